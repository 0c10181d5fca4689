/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"
#include "subject/subject.h"

/* Private to the files that create and check a root.  Paths are relative to the new root. */
struct rootfs_item;
struct rootfs_list {
	struct rootfs_item *items;
	size_t n;
};

struct rootfs {
	int dirfd;
	struct rootfs_list *list; /* not NULL: entries are listed instead of created */
	bool portable;		  /* with the mount point of the gate */
};

/* Adds PATH with its parent directories; TYPE is S_IFDIR, S_IFREG or S_IFLNK. */
int rootfs_list_add(struct rootfs_list *l, const char *path, mode_t type, const char *text, size_t len,
		    struct fault *f);
/* Adds a file with the first LEN bytes of FD.  Takes ownership of FD. */
int rootfs_list_add_copy(struct rootfs_list *l, const char *path, int fd, size_t len, struct fault *f);
/* Lists everything that rootfs_build would create now. */
int rootfs_list(struct rootfs_list *l, const struct subject *s, uid_t uid, gid_t gid, struct fault *f);

int rootfs_make_dir(const struct rootfs *r, const char *path, struct fault *f);
int rootfs_make_file(const struct rootfs *r, const char *path, const char *text, size_t len, struct fault *f);
int rootfs_make_link(const struct rootfs *r, const char *path, const char *text, struct fault *f);

/* Is TARGET at or below a later mount?  Then its mount point is not in the skeleton. */
bool rootfs_is_covered(const struct subject *s, const char *target, bool or_at);

/* The small /etc of a host-ro root: generated accounts and host names, copies of harmless tables. */
int rootfs_make_etc(const struct rootfs *r, const struct subject *s, struct fault *f);
