/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"
#include "subject/subject.h"

/* Between the files that make and check a root; nobody else includes this.  Paths are relative to the new root. */
struct rootfs_item;
struct rootfs_list {
	struct rootfs_item *items;
	size_t n;
};

struct rootfs {
	int dirfd;
	struct rootfs_list *list; /* not NULL: nothing is made, what would be is listed */
};

/* With all directories above PATH; TYPE is S_IFDIR, S_IFREG or S_IFLNK. */
int rootfs_list_add(struct rootfs_list *l, const char *path, mode_t type, const char *text, size_t len,
		    struct fault *f);
/* A file with the first LEN bytes of FD, which is the list's from the call on. */
int rootfs_list_add_copy(struct rootfs_list *l, const char *path, int fd, size_t len, struct fault *f);
/* Everything that rootfs_build would make now. */
int rootfs_list(struct rootfs_list *l, const struct subject *s, uid_t uid, gid_t gid, struct fault *f);

int rootfs_make_dir(const struct rootfs *r, const char *path, struct fault *f);
int rootfs_make_file(const struct rootfs *r, const char *path, const char *text, size_t len, struct fault *f);
int rootfs_make_link(const struct rootfs *r, const char *path, const char *text, struct fault *f);

/* Is TARGET below (or at) something that will be mounted?  Then its place is not in the skeleton. */
bool rootfs_is_covered(const struct subject *s, const char *target, bool or_at);

/* The small /etc of a host-ro root: generated accounts and names, copies of harmless tables. */
int rootfs_make_etc(const struct rootfs *r, const struct subject *s, struct fault *f);
