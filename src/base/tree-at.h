/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>
#include <sys/stat.h>

#include "base/fault.h"

/*
 * Path lookup in a tree that other processes may change: one component after the other, each relative to a
 * descriptor, no link followed, no other mount entered, any path length. A component swapped for a link is an
 * error, never an escape. The directory of the last lookup stays open, because the next one is usually in the
 * same directory.
 */
struct tree_at {
	int root; /* borrowed */
	uint64_t mount;
	char *dir; /* "" is the root */
	int fd;	   /* O_PATH */
};
#define TREE_AT_NONE ((struct tree_at){ .root = -EBADF, .fd = -EBADF })

int tree_at_init(struct tree_at *t, int rootfd, struct fault *f) _must_check_;
void tree_at_done(struct tree_at *t);
#define _cleanup_tree_at_ _cleanup_(tree_at_done)

/* The next lookup starts at the root again: the open directory may have been moved. */
void tree_at_forget(struct tree_at *t);

/* O_PATH, valid until the next lookup. -ENOENT, -ENOTDIR (a link as well), -EXDEV, -EINVAL for "..". */
int tree_at_dir(struct tree_at *t, const char *path, int *ret) _must_check_;
/* The parent directory of PATH and its last component. "" has none: -EINVAL. */
int tree_at_parent(struct tree_at *t, const char *path, int *ret, const char **ret_name) _must_check_;
/* Of PATH itself, a link not followed; "" is the root. */
int tree_at_stat(struct tree_at *t, const char *path, struct statx *ret) _must_check_;
/* PATH itself, whatever it is: an O_PATH descriptor of the caller. */
int tree_at_entry(struct tree_at *t, const char *path) _must_check_;
/* A regular file for reading; -EINVAL if it is not one. */
int tree_at_open(struct tree_at *t, const char *path) _must_check_;
/* The same for a path that the caller has just seen as a regular file of this mount: checked after it is opened, not before as well. */
int tree_at_open_known(struct tree_at *t, const char *path) _must_check_;
/* Heap; -EINVAL if it is not a link. */
int tree_at_readlink(struct tree_at *t, const char *path, char **ret) _must_check_;
/* The text of the link NAME in DIRFD. */
int tree_readlink(int dirfd, const char *name, char **ret) _must_check_;
/* A regular file for reading, by one name. Never blocks, never follows a link. */
int tree_open_file(int dirfd, const char *name) _must_check_;
