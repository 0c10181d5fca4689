/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * Opens files under a root that another user may write to. BENEATH refuses to leave ROOTFD by "..", absolute
 * path, symlink or magic link; IN_ROOT resolves as if chrooted there. Both use openat2; if it is not
 * available, BENEATH walks with O_NOFOLLOW (symlinks refused) and IN_ROOT fails.
 */
int path_open_beneath(int rootfd, const char *path, int flags, mode_t mode, struct fault *f) _must_check_;
int path_open_in_root(int rootfd, const char *path, int flags, mode_t mode, struct fault *f) _must_check_;

/* Lexical: one leading '/', no "//", ".", or trailing '/'.  A relative PATH and ".." are refused (EINVAL). */
int path_normalize(const char *path, char **ret, struct fault *f) _must_check_;

/* Is PATH equal to or below PARENT?  Both normalized. */
bool path_is_below(const char *path, const char *parent);

/* DIR "/" NAME; heap; NULL on ENOMEM. */
char *path_join(const char *dir, const char *name);

/*
 * mkdir -p below DIRFD, or of an absolute path with AT_FDCWD. Each missing component gets MODE less the
 * umask; no component may be a symlink or "..". Returns a dirfd that is not O_PATH.
 */
int path_make_dirs(int dirfd, const char *path, mode_t mode, struct fault *f) _must_check_;

/*
 * rm -r of NAME in DIRFD: descriptors only, never through a symlink, never across a mount (EBUSY), any depth.
 * Modes of own directories in the tree are changed if needed. ENOENT is success.
 */
int path_remove_tree(int dirfd, const char *name, struct fault *f) _must_check_;
/* The same with several threads, for a tree that may be large: most of the time is the kernel's. */
int path_remove_wide_tree(int dirfd, const char *name, struct fault *f) _must_check_;
/* The same as path_remove_tree, but a directory of another user than OWNER is an error (EPERM), and its content stays. */
int path_remove_tree_of(int dirfd, const char *name, uid_t owner, struct fault *f) _must_check_;
