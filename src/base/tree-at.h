/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>
#include <sys/stat.h>

#include "base/fault.h"

/*
 * Looking things up by path in a tree that others may be changing: one name after the other, each relative to a descriptor,
 * no link followed, no other mount entered, a path as long as it likes.  What is swapped for a link is an error, never a
 * way out.  The directory of the last question is kept open, for the next one is mostly about its neighbour.
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

/* The next question starts at the root again: what was open may have been moved away. */
void tree_at_forget(struct tree_at *t);

/* O_PATH, until the next question.  -ENOENT, -ENOTDIR (a link as well), -EXDEV, -EINVAL for "..". */
int tree_at_dir(struct tree_at *t, const char *path, int *ret) _must_check_;
/* The directory that PATH is in and its last name.  "" has none: -EINVAL. */
int tree_at_parent(struct tree_at *t, const char *path, int *ret, const char **ret_name) _must_check_;
/* Of PATH itself, a link not followed; "" is the root. */
int tree_at_stat(struct tree_at *t, const char *path, struct statx *ret) _must_check_;
/* A regular file for reading; -EINVAL when it is something else by now. */
int tree_at_open(struct tree_at *t, const char *path) _must_check_;
/* Heap; -EINVAL when it is no link. */
int tree_at_readlink(struct tree_at *t, const char *path, char **ret) _must_check_;
/* The text of the link NAME in DIRFD. */
int tree_readlink(int dirfd, const char *name, char **ret) _must_check_;
/* A regular file for reading, by one name.  Never waits, never follows. */
int tree_open_file(int dirfd, const char *name) _must_check_;
