/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/disk-usage.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/walk.h"

#define FIRST_ROOM 1024
#define FILES_MAX \
	((size_t)1 << 22) /* files with several names that are remembered; further ones count each time */

struct seen {
	uint64_t inode;
	uint32_t major, minor;
	uint32_t tree; /* 0: free */
};

struct disk_usage {
	struct seen *files; /* a hash table with open addressing */
	size_t n, room;
	uint32_t tree; /* number of the current one */
};

void disk_usage_free(struct disk_usage *u)
{
	if (!u)
		return;
	free(u->files);
	free(u);
}

int disk_usage_new(struct disk_usage **ret, struct fault *f)
{
	struct disk_usage *u = calloc(1, sizeof(*u));

	if (u)
		u->files = calloc(FIRST_ROOM, sizeof(*u->files));
	if (!u || !u->files) {
		disk_usage_free(u);
		return fault_errno(f, ENOMEM, "disk usage");
	}
	u->room = FIRST_ROOM;
	*ret = u;
	return 0;
}

static struct seen *find(struct seen *files, size_t room, const struct seen *key)
{
	size_t at = (size_t)((key->inode * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (room - 1);

	while (files[at].tree && (files[at].inode != key->inode || files[at].major != key->major ||
				  files[at].minor != key->minor))
		at = (at + 1) & (room - 1);
	return files + at;
}

/* At most half full, so that a free place is near. */
static int grow(struct disk_usage *u, struct fault *f)
{
	struct seen *files;

	if (u->n < u->room / 2)
		return 0;
	files = calloc(u->room * 2, sizeof(*files));
	if (!files)
		return fault_errno(f, ENOMEM, "disk usage");
	for (size_t i = 0; i < u->room; i++)
		if (u->files[i].tree)
			*find(files, u->room * 2, u->files + i) = u->files[i];
	free(u->files);
	u->files = files;
	u->room *= 2;
	return 0;
}

static int add(struct disk_usage *u, const struct statx *stx, struct disk_usage_size *ret, struct fault *f)
{
	const uint64_t bytes = stx->stx_blocks * 512;
	const struct seen key = { .inode = stx->stx_ino,
				  .major = stx->stx_dev_major,
				  .minor = stx->stx_dev_minor,
				  .tree = u->tree };
	struct seen *place;
	int r;

	if (S_ISDIR(stx->stx_mode) || stx->stx_nlink < 2 || u->n >= FILES_MAX) {
		ret->bytes += bytes;
		return 0;
	}
	r = grow(u, f);
	if (r < 0)
		return r;
	place = find(u->files, u->room, &key);
	if (!place->tree) {
		*place = key;
		u->n++;
		ret->bytes += bytes;
	} else if (place->tree != u->tree) {
		ret->shared += bytes;
		place->tree = u->tree; /* another name in this tree does not count again */
	}
	return 0;
}

int disk_usage_measure(struct disk_usage *u, int dirfd, struct disk_usage_size *ret, struct fault *f)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct disk_usage_size size = { 0 };
	struct walk_entry e;
	int r = walk_new(dirfd, 0, &w, f);

	u->tree++;
	while (r >= 0 && (r = walk_next(w, &e, f)) > 0) {
		if (r == WALK_LEAVE)
			continue;
		size.entries++;
		size.partial |= r == WALK_ERROR;
		if (e.stx.stx_mask)
			r = add(u, &e.stx, &size, f);
	}
	if (r < 0)
		return r;
	*ret = size;
	return 0;
}
