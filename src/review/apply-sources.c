/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "review/apply-impl.h"

/* Limit of open descriptors; exchanged files are few, and a process has 1024. */
#define HOLDS_MAX 256

struct apply_hold {
	const struct change *change;
	int fd;
};

/* Does another change of this apply replace or remove the file at PATH of the base, or one of its parents? */
static bool is_overwritten(const struct apply *a, const char *path, char *room)
{
	const size_t len = strlen(path);

	memcpy(room, path, len + 1);
	for (char *end = room + len; end; end = strrchr(room, '/')) {
		const struct change *ch;

		*end = '\0';
		ch = changes_find(a->changes, room);
		if (ch && apply_is_wanted(ch) && ch->kind != CHANGE_DELETED &&
		    !(ch->kind == CHANGE_MODIFIED && S_ISDIR(ch->new.mode)))
			return true;
	}
	return false;
}

static int hold(struct apply *a, const struct change *ch, struct fault *f)
{
	int fd;

	if (a->n_holds == HOLDS_MAX)
		return fault_set(
			f, E2BIG,
			"more than %d moved files have sources that this apply overwrites; nothing was "
			"applied: "
			"mount the upper over the worktree (mount -t overlay) and copy the files from there",
			HOLDS_MAX);
	if (!a->holds) {
		a->holds = calloc(HOLDS_MAX, sizeof(*a->holds));
		if (!a->holds)
			return fault_errno(f, ENOMEM, "apply");
	}
	fd = tree_at_open(&a->base, ch->data);
	if (fd < 0)
		return fault_errno(f, -fd, "open the new content");
	a->holds[a->n_holds++] = (struct apply_hold){ .change = ch, .fd = fd };
	return 0;
}

int apply_hold_sources(struct apply *a, struct fault *f)
{
	for (size_t i = 0; i < a->changes->n; i++) {
		const struct change *ch = &a->changes->items[i];
		_cleanup_free_ char *room = NULL;
		int r;

		/* A file that is its own source is read before it is exchanged. */
		if (!ch->data || !apply_is_wanted(ch) || !S_ISREG(ch->new.mode) ||
		    strcmp(ch->data, ch->path) == 0)
			continue;
		room = malloc(strlen(ch->data) + 1);
		if (!room)
			return fault_errno(f, ENOMEM, "apply");
		r = is_overwritten(a, ch->data, room) ? hold(a, ch, f) : 0;
		if (r < 0)
			return fault_wrap(f, r, "'%s'", ch->path);
	}
	return 0;
}

int apply_take_source(struct apply *a, const struct change *ch)
{
	for (size_t i = 0; i < a->n_holds; i++)
		if (a->holds[i].change == ch)
			return TAKE_FD(a->holds[i].fd);
	return -ENOENT;
}

void apply_hold_done(struct apply *a)
{
	for (size_t i = 0; i < a->n_holds; i++)
		(void)fd_close(a->holds[i].fd);
	free(a->holds);
	a->holds = NULL;
}
