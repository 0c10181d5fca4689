/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "review/changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "review/changes-impl.h"

const char *changes_kind_name(enum change_kind kind)
{
	static const char *const names[] = {
		[CHANGE_SAME] = "same",		[CHANGE_ADDED] = "added",	[CHANGE_DELETED] = "deleted",
		[CHANGE_MODIFIED] = "modified", [CHANGE_REPLACED] = "replaced", [CHANGE_UNKNOWN] = "unknown",
	};

	return names[kind];
}

int changes_compare(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	if (*a == *b)
		return 0;
	/* The end of a path sorts before '/', and '/' before all other bytes. */
	if (!*a || !*b)
		return *a ? 1 : -1;
	if (*a == '/' || *b == '/')
		return *a == '/' ? -1 : 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

struct change *changes_add(struct collect *c, const char *path, enum change_kind kind, struct fault *f)
{
	struct changes *l = c->list;
	char *copy;

	if (l->n >= CHANGES_MAX) {
		(void)fault_set(f, E2BIG, "more than %d changes", CHANGES_MAX);
		return NULL;
	}
	l->names += strlen(path) + 1;
	if (l->names > CHANGES_NAMES_MAX) {
		(void)fault_set(f, E2BIG, "paths of the changes are longer than %zu bytes",
				CHANGES_NAMES_MAX);
		return NULL;
	}
	if (l->n == l->room) {
		size_t room = l->room ? l->room * 2 : 64;
		struct change *grown = reallocarray(l->items, room, sizeof(*grown));

		if (!grown) {
			(void)fault_errno(f, ENOMEM, "changes");
			return NULL;
		}
		l->items = grown;
		l->room = room;
	}
	copy = strdup(path);
	if (!copy) {
		(void)fault_errno(f, ENOMEM, "changes");
		return NULL;
	}
	l->items[l->n] = (struct change){ .path = copy, .kind = kind };
	return &l->items[l->n++];
}

static void change_done(struct change *ch)
{
	free(ch->path);
	free(ch->data);
	free(ch->attributes);
	free(ch->old.link);
	free(ch->new.link);
	free(ch->refused);
}

void changes_done(struct changes *c)
{
	for (size_t i = 0; i < c->n; i++)
		change_done(&c->items[i]);
	free(c->items);
	*c = (struct changes){ 0 };
}

static int by_path(const void *key, const void *item)
{
	return changes_compare(key, ((const struct change *)item)->path);
}

struct change *changes_find(const struct changes *c, const char *path)
{
	return c->n ? bsearch(path, c->items, c->n, sizeof(*c->items), by_path) : NULL;
}

void changes_fill_side(struct change_side *s, const struct statx *stx)
{
	*s = (struct change_side){
		.mode = stx->stx_mode,
		.uid = stx->stx_uid,
		.gid = stx->stx_gid,
		.size = stx->stx_size,
		.dev = makedev(stx->stx_dev_major, stx->stx_dev_minor),
		.ino = stx->stx_ino,
		.nlink = stx->stx_nlink,
		.mtime = { .tv_sec = stx->stx_mtime.tv_sec, .tv_nsec = stx->stx_mtime.tv_nsec },
		.ctime = { .tv_sec = stx->stx_ctime.tv_sec, .tv_nsec = stx->stx_ctime.tv_nsec },
		.btime = stx->stx_mask & STATX_BTIME ? (struct timespec){ .tv_sec = stx->stx_btime.tv_sec,
									  .tv_nsec = stx->stx_btime.tv_nsec }
						     : (struct timespec){ 0 },
		.rdev_major = stx->stx_rdev_major,
		.rdev_minor = stx->stx_rdev_minor,
	};
}
