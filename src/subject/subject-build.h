/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/stat.h>

#include "subject/subject.h"

/* Shared by the files that build a subject only. */

#define SUBJECT_MOUNTS_MAX 512

/* Names and values of the environment; fills s->env and s->home (true in RET_OWN_HOME: ours, not the caller's). */
int subject_build_env(struct subject *s, const struct subject_request *rq, bool *ret_own_home,
		      struct fault *f);

/* Sets or replaces one variable; the list stays sorted. */
int subject_put_env(struct subject *s, const char *name, const char *value, struct fault *f);
/* The value of NAME in ENV, or NULL. */
const char *subject_env_value(char *const *env, const char *name);

/* Shows the caller's tools, if the profile says so: mounts, PATH, and the directories left out in s->remarks. */
int subject_build_tools(struct subject *s, const struct subject_request *rq, struct fault *f);

/* The parents of paths that the profile hides in a writable worktree keep their names (subject_pin_parents). */
int subject_build_hidden(struct subject *s, struct fault *f);

/* Hides secrets at the top level of the worktree, unless the profile shows them; after the mounts that the caller named. */
int subject_build_secrets(struct subject *s, struct fault *f);

/* Mounts and links of the root: the host's directories, or those of the profile's root directory. */
int subject_build_root(struct subject *s, struct fault *f);

/* Binds and tmpfs of profile and command line. */
int subject_build_binds(struct subject *s, const struct subject_request *rq, struct fault *f);

/* The repository that the worktree's file .git names, at its own path: an overlay like the worktree, or read-only. */
int subject_build_repository(struct subject *s, const struct subject_request *rq, struct fault *f);

/* Read-only binds over the paths that the profile protects, if the worktree is writable. */
int subject_build_protect(struct subject *s, struct fault *f);

/*
 * PATH of the worktree is hidden: binds each parent directory of it onto itself, if the worktree is writable.  A mount point
 * cannot be renamed; in a directory with another name the next run would show the file.  A link in PATH is refused.
 */
int subject_pin_parents(struct subject *s, const char *path, struct fault *f);

/* Adds the host's mounts below each bound directory, sorts, and refuses invalid targets.  OWN may be NULL. */
int subject_finish_mounts(struct subject *s, struct own_dirs *own, struct fault *f);

/*
 * Refuses SOURCE (resolved) if showing it, or showing it writable, needs a word that is missing in
 * `dangerous`.
 */
int subject_require_harmless(const struct subject *s, const struct subject_request *rq, const char *source,
			     bool rw, struct fault *f);

/*
 * For a subject in a sandbox root: its worktree is the directory that R holds; /tmp is its tmp, if the
 * worktree is writable; the working directory and the paths that the profile hides or mounts in the worktree
 * stay in it.
 */
int subject_require_sandbox(const struct subject *s, struct fault *f);
int subject_require_sandbox_cwd(const struct subject *s, struct fault *f);
int subject_add_sandbox_tmp(struct subject *s, struct fault *f);
int subject_require_sandbox_targets(const struct subject *s, struct fault *f);
/* SOURCE of a bind: 1 with its path (heap) and the descriptor it was resolved to; 0: not a path in the root. */
int subject_pin_sandbox(struct subject *s, const char *source, bool is_volume, char **ret, int *ret_fd,
			struct fault *f);

/*
 * For a subject with a kept home: mounts it at the home inside, in place of a tmpfs of the profile. Nothing else is mounted
 * in it, because its entries were written by earlier runs.
 */
int subject_add_home(struct subject *s, struct fault *f);
int subject_require_home(const struct subject *s, struct fault *f);

/* Path of the worktree inside: the profile's, else the one that it has on the host, else /work. */
int subject_set_target(struct subject *s, const struct subject_request *rq, struct fault *f);

/* Of the command line, the profile or the caller.  Early checks only: subject_require_cwd needs the mounts. */
int subject_set_cwd(struct subject *s, const struct subject_request *rq, struct fault *f);

struct subject_file subject_file_of(const struct stat *st);

/* The mount exactly at TARGET, or NULL. */
struct subject_mount *subject_find_mount(const struct subject *s, const char *target);

int subject_add_tmpfs(struct subject *s, const char *target, uint64_t size, unsigned int mode,
		      struct fault *f);
int subject_add_link(struct subject *s, const char *target, const char *text, struct fault *f);

/* SOURCE is resolved by the caller.  RET_MOUNT may be NULL. */
int subject_add_bind(struct subject *s, const char *source, const char *target, bool rw, bool idmap,
		     struct fault *f);
