/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that the host removed while a session ran, and that its payload changed in place. */
#include <string.h>
#include <sys/stat.h>

#include "review/attributes.h"
#include "review/changes-impl.h"

/*
 * The payload created it, renamed it, or changed a file in place that the base has no more.  overlayfs marks only copies, whatever
 * their name is now; the names of a directory of the base change only when the host changes them.
 */
bool changes_may_be_gone(struct collect *c, const struct change *ch)
{
	const bool trusted = c->ask->xattrs == OVERLAY_XATTR_TRUSTED;
	struct attribute_names names;
	const char *name;
	struct stat st;
	int dir;

	if (!S_ISREG(ch->new.mode) || c->ask->xattrs == OVERLAY_XATTR_FUSE || c->ask->since.tv_sec == 0 ||
	    changes_is_in_missing(c, ch->path) || tree_at_parent(&c->base, ch->path, &dir, &name) < 0 ||
	    fstat(dir, &st) < 0 || !changes_time_is_after(&st.st_ctim, &c->ask->since))
		return false;
	if (tree_at_parent(&c->upper, ch->path, &dir, &name) < 0)
		return true;
	attribute_names_read(dir, name, &names);
	return attribute_names_may_have(&names, trusted ? "trusted.overlay.origin" : "user.overlay.origin");
}

/*
 * Is CH, which is marked as a copy, the copy of another file of the base?  A renamed file leaves one that is removed or replaced,
 * and as long as its content was not changed it has that one's size and time; a further name has the same inode.
 */
static bool has_source(const struct changes *list, const struct change *ch)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct change *from = &list->items[i];

		if (from == ch || !S_ISREG(from->old.mode))
			continue;
		if (from->new.mode && from->new.dev == ch->new.dev && from->new.ino == ch->new.ino)
			return true;
		if (from->old.size == ch->new.size && from->old.mtime.tv_sec == ch->new.mtime.tv_sec &&
		    from->old.mtime.tv_nsec == ch->new.mtime.tv_nsec)
			return true;
	}
	return false;
}

bool changes_is_gone(const struct changes *list, const struct change *ch)
{
	return ch->gone && !has_source(list, ch);
}
