/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/stat.h>

#include "subject/subject.h"

/* Shared by the files that build a subject only. */

#define SUBJECT_MOUNTS_MAX 512

/* Names and values of the environment; fills s->env and s->home (true in RET_OWN_HOME: ours, not the caller's). */
int subject_build_env(struct subject *s, const struct subject_request *rq, bool *ret_own_home,
		      struct fault *f);

/* Mounts and links of the root: the host's directories, or those of the profile's root directory. */
int subject_build_root(struct subject *s, struct fault *f);

/* Binds and tmpfs of profile and command line. */
int subject_build_binds(struct subject *s, const struct subject_request *rq, struct fault *f);

/* Read-only binds over the paths that the profile protects, if the worktree is writable. */
int subject_build_protect(struct subject *s, struct fault *f);

/* Adds the host's mounts below each bound directory, sorts, and refuses invalid targets. */
int subject_finish_mounts(struct subject *s, struct fault *f);

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
