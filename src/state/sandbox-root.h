/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"
#include "state/dirs.h"

/*
 * A place to work in that outlives its runs: DIRS->sandboxes/NAME with workspace/, tmp/ and logs/, each 0700 and the
 * caller's.  Runs hold its lock shared, a reset holds it alone.  Everything is reached through the descriptors here: the
 * texts are for people and for mounts, and what was mounted by one of them is compared with its descriptor before the
 * command starts.
 */
#define SANDBOX_DEFAULT "default" /* the shared one, for work that is nobody's in particular */
#define SANDBOX_NAME_MAX 64
#define SANDBOX_WORKSPACE "workspace"
#define SANDBOX_TMP "tmp"
#define SANDBOX_LOGS "logs"

struct sandbox_root {
	char *name;
	char *path;	       /* resolved */
	char *workspace, *tmp; /* PATH/workspace, PATH/tmp */
	int fd;		       /* of PATH; holds the lock */
	int workspace_fd, tmp_fd, logs_fd;
	int *pins; /* what was resolved in it: an inode that is held is nobody else's */
	size_t n_pins;
};

enum sandbox_use {
	SANDBOX_LOOK,  /* nothing is made, repaired or locked; -ENOENT when it is not there */
	SANDBOX_RUN,   /* made, repaired, locked with other runs; -EBUSY while it is being reset */
	SANDBOX_HOLD,  /* as a run does, but -ENOENT when it is not there */
	SANDBOX_RESET, /* repaired, locked alone; -ENOENT when it is not there, -EBUSY while a run has it */
};

/* Lower case letters, digits, '.', '_' and '-', no dot in front, at most SANDBOX_NAME_MAX. */
bool sandbox_name_is_valid(const char *name);
int sandbox_name_require(const char *name, struct fault *f) _must_check_;

/*
 * A missing directory is made, a wrong mode repaired; a symbolic link, another type or another owner is refused with the
 * command that helps.  Whose lane it is of is checked first.
 */
int sandbox_root_open(const struct dirs *d, const char *name, enum sandbox_use use, struct sandbox_root **ret,
		      struct fault *f) _must_check_;
void sandbox_root_free(struct sandbox_root *r);
DEFINE_CLEANUP(struct sandbox_root, sandbox_root_free)
#define _cleanup_sandbox_root_ _cleanup_(sandbox_root_freep)

/*
 * PATH below the workspace; DIRFD may be tmp_fd as well.  Whatever leads out of it ("..", an absolute path, a link, a
 * magic link, a mount) is refused with -EXDEV, naming PATH and the root; so is a file with a second name, for that may lie anywhere.
 */
int sandbox_root_resolve(const struct sandbox_root *r, int dirfd, const char *path, int flags,
			 struct fault *f) _must_check_;
/* The same, held as long as R: returns a borrowed descriptor, and where it is (heap). */
int sandbox_root_pin(struct sandbox_root *r, const char *path, char **ret_path, struct fault *f) _must_check_;

/* Is PATH (resolved) the workspace, in it, or the tmp directory?  Everything else of a root is custody's own. */
bool sandbox_root_is_visible(const struct sandbox_root *r, const char *path);

/*
 * The name of the root whose workspace WORKTREE (resolved) is or lies in; heap.  1, 0 when it is in none.
 */
int sandbox_name_of(const struct dirs *d, const char *worktree, char **ret, struct fault *f) _must_check_;
