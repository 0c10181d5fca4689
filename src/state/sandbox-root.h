/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/id-map.h"
#include "state/dirs.h"

/*
 * A persistent working directory: DIRS->sandboxes/NAME with workspace/, tmp/ and logs/, each 0700 and owned
 * by the caller. Runs hold its lock shared, a reset holds it exclusively. Files are accessed through these
 * descriptors; the paths are for messages and mounts, and a mount by path is compared with its descriptor
 * before the command starts.
 */
#define SANDBOX_DEFAULT "default" /* the shared default root */
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
	bool disposable;   /* set by sandbox_root_check_stamp */
	struct id_map ids; /* runs left files of these subordinate ids in it; not set: none */
	int *pins;	   /* resolved files: an open inode cannot be reused */
	size_t n_pins;
};

enum sandbox_use {
	SANDBOX_LOOK,  /* nothing is created, repaired or locked; -ENOENT if missing */
	SANDBOX_RUN,   /* created, repaired, locked shared; -EBUSY during a reset */
	SANDBOX_HOLD,  /* as a run, but -ENOENT if missing */
	SANDBOX_RESET, /* repaired, locked exclusively; -ENOENT if missing, -EBUSY during a run */
};

/* Lower case letters, digits, '.', '_' and '-', no leading dot, at most SANDBOX_NAME_MAX. */
bool sandbox_name_is_valid(const char *name);
int sandbox_name_require(const char *name, struct fault *f) _must_check_;

/*
 * A missing directory is created, a wrong mode repaired; a symbolic link, another type or another owner is
 * refused with the command that fixes it. Its lane is checked first.
 */
int sandbox_root_open(const struct dirs *d, const char *name, enum sandbox_use use, struct sandbox_root **ret,
		      struct fault *f) _must_check_;
/*
 * Creates the root NAME with the stamp of state/disposable-dir.h, unless a root of this name exists: it stays what it
 * is, and the caller learns that from sandbox_root_check_stamp.
 */
int sandbox_root_make_disposable(const struct dirs *d, const char *name, struct fault *f) _must_check_;
/* Sets DISPOSABLE of an open root. A stamp that does not belong to it is refused. */
int sandbox_root_check_stamp(struct sandbox_root *r, enum lane lane, struct fault *f) _must_check_;
/* Before a command with these ids writes to R: its files keep their owners until a reset. */
int sandbox_root_share(const struct sandbox_root *r, const struct id_map *ids, struct fault *f) _must_check_;
/* Gives every file of R, open with SANDBOX_RESET, to the caller. */
int sandbox_root_return(const struct sandbox_root *r, struct fault *f) _must_check_;
void sandbox_root_free(struct sandbox_root *r);
DEFINE_CLEANUP(struct sandbox_root, sandbox_root_free)
#define _cleanup_sandbox_root_ _cleanup_(sandbox_root_freep)

/*
 * PATH below the workspace; DIRFD may be tmp_fd as well. A path that leaves it ("..", an absolute path, a
 * link, a magic link, a mount) is refused with -EXDEV, naming PATH and the root; so is a file with a second
 * hard link, which may be anywhere.
 */
int sandbox_root_resolve(const struct sandbox_root *r, int dirfd, const char *path, int flags,
			 struct fault *f) _must_check_;
/* The same, kept open as long as R: returns a borrowed descriptor and its path (heap). */
int sandbox_root_pin(struct sandbox_root *r, const char *path, char **ret_path, struct fault *f) _must_check_;

/* Is PATH (resolved) the workspace, in it, or the tmp directory?  Everything else of a root is custody's own. */
bool sandbox_root_is_visible(const struct sandbox_root *r, const char *path);

/* The name of the root whose workspace contains WORKTREE (resolved); heap. 1, or 0 if it is in none. */
int sandbox_name_of(const struct dirs *d, const char *worktree, char **ret, struct fault *f) _must_check_;
