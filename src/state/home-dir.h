/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/id-map.h"
#include "state/dirs.h"

/*
 * A private home that persists between runs: DIRS->homes/ID, a disposable directory (state/disposable-dir.h) with one part,
 * `home`, which runs mount as the home inside. ID is made of the project (path, inode and birth time of the worktree) and a
 * name, so two projects never share a home. Runs hold its lock shared, a reset and a prune hold it exclusively. Its entries
 * are written by payloads: nothing here follows or opens one.
 */
#define HOME_DEFAULT "default" /* name of a project's home when none is given */
#define HOME_PART "home"
#define HOME_PROJECT "project" /* beside it: path of the worktree; its mtime is the last start of a run */
#define HOME_GONE ".gone-"     /* not the form of an ID: a home under this name is being removed */
#define HOME_KEY_LEN 16
#define HOME_ID_SIZE (HOME_KEY_LEN + 1 + 64 + 1)

struct home_dir {
	char id[HOME_ID_SIZE]; /* KEY-NAME */
	char *path;	       /* resolved */
	char *home;	       /* PATH/home */
	int fd;		       /* of PATH; holds the lock */
	int home_fd;	       /* of HOME */
	bool disposable;       /* it has the stamp */
	struct id_map ids;     /* runs left files of these subordinate ids in it; not set: none */
};

enum home_use {
	HOME_LOOK,  /* nothing is made, repaired or locked; -ENOENT if missing */
	HOME_RUN,   /* made, repaired, locked shared; -EBUSY during a reset */
	HOME_CLEAR, /* repaired, locked exclusively; -ENOENT if missing, -EBUSY during a run */
};

/* As of a sandbox root, and not of the form of an ID. */
bool home_name_is_valid(const char *name);
bool home_id_is_valid(const char *id);
/* The words of --home and process.home: "memory", "keep", "keep=NAME". 1 with *RET_NAME (borrowed), 0: memory. */
int home_word_parse(const char *word, const char **ret_name, struct fault *f) _must_check_;
bool home_word_is_valid(const char *word);

/* ID of the home NAME of the project at WORKTREE, a resolved path. */
int home_dir_name(const char *worktree, const char *name, char ret[HOME_ID_SIZE],
		  struct fault *f) _must_check_;

/* WORKTREE: with HOME_RUN, recorded for `df`; else not used. */
int home_dir_open(const struct dirs *d, const char *id, const char *worktree, enum home_use use,
		  struct home_dir **ret, struct fault *f) _must_check_;
void home_dir_free(struct home_dir *h);
DEFINE_CLEANUP(struct home_dir, home_dir_free)
#define _cleanup_home_dir_ _cleanup_(home_dir_freep)

/* Before a command with these ids writes to H, open with HOME_RUN: its files keep their owners until it is emptied. */
int home_dir_share(const struct home_dir *h, const struct id_map *ids, struct fault *f) _must_check_;
/* Gives every file of H, open with HOME_CLEAR, to the caller. */
int home_dir_return(const struct home_dir *h, struct fault *f) _must_check_;

/* Is PATH (resolved) the part that runs mount, or in it?  Everything else of the directory is custody's own. */
bool home_dir_is_visible(const struct home_dir *h, const char *path);
/* Wall clock of the last start of a run; 0: not known. *RET_WORKTREE (heap; may be NULL): its project; NULL: not known. */
uint64_t home_dir_used_us(const struct home_dir *h, char **ret_worktree);
/* Removes H, open with HOME_CLEAR, with all its content: for later opens at once, also after a kill. */
int home_dir_remove(const struct dirs *d, const struct home_dir *h, struct fault *f) _must_check_;
