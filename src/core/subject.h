/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"
#include "core/profile.h"

/*
 * Everything that changes what runs, resolved against this host: the input of the bundle.  config.json is a pure
 * function of a subject and a placement (where this session's directories are).
 */
struct subject_mount {
	char *source; /* host path, symlinks resolved; NULL for tmpfs */
	char *target; /* inside */
	bool rw;
	bool is_dir;
	uint64_t size; /* tmpfs */
};

struct subject {
	const struct profile *profile; /* borrowed; outlives the subject */
	char **argv;
	char **env;	 /* "NAME=value", sorted by name */
	char *cwd;	 /* inside */
	char *hostname;
	uid_t uid;	 /* inside */
	gid_t gid;
	char *worktree;	 /* host path, resolved; NULL for tmpfs */
	uid_t owner_uid; /* of the worktree, on the host */
	gid_t owner_gid;
	struct subject_mount *mounts; /* host paths, extra binds and tmpfs in mount order, parents first */
	size_t n_mounts;
	uint32_t layers; /* LAYER_BIT()s asked for: profile's, less limits that are not set */
};

/* What the command line adds to a profile: Docker's spellings and the command.  Only what it may: see docs. */
struct subject_request {
	char *const *argv;
	char *const *env;     /* -e NAME or NAME=value */
	char *const *volumes; /* -v SOURCE:TARGET[:ro|rw] */
	const char *workdir;  /* -w, inside */
	const char *hostname;
	char *const *environ; /* the caller's */
};

int subject_build(const struct profile *p, const struct subject_request *rq, struct subject **ret,
		  struct fault *f) _must_check_;
void subject_free(struct subject *s);
DEFINE_CLEANUP(struct subject, subject_free)
#define _cleanup_subject_ _cleanup_(subject_freep)
