/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/str.h"

/*
 * Repositories of custody's own, in a private directory, and git executed in them.  Everything that git reads there was written
 * by custody or by git itself: configuration, references and attributes never come from anywhere else, and the environment has
 * nothing of the caller's.  docs/design/broker-git.md.
 */
struct git_box {
	const char *program;  /* git, a trusted absolute path */
	const char *protocol; /* the one that git may use, such as "file" */
	const char *ca;	      /* file with certificates for https; NULL: the system's */
	int dir;	      /* 0700, below the session's state */
	/* Opens what git's credential helper prints, once for each git; NULL: no credential. */
	int (*credential)(void *arg, struct fault *f);
	void *credential_arg;
};
#define GIT_BOX_NAME "git"  /* in the session's state; settling the session removes it, also after SIGKILL */
#define GIT_SOURCE "source" /* the objects that were copied, unverified */
#define GIT_CLEAN "clean"   /* objects that git has verified */

#define GIT_NO_CERTIFICATES "no-certificates" /* in each repository: a directory that stays empty */

#define GIT_OID_SIZE 41 /* hex digits of SHA-1 and NUL */
#define GIT_EMPTY_TREE "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
#define GIT_OUTPUT_MAX ((size_t)64 * 1024 * 1024)
#define GIT_FILE_MAX ((uint64_t)2 << 30)   /* of what git writes */
#define GIT_MEMORY_MAX ((uint64_t)4 << 30) /* its address space: packs are mapped */
#define GIT_DATA_MAX ((uint64_t)2 << 30)   /* of that, all but mapped files */

/* Makes NAME in DIR anew; what an interrupted call left is removed. */
int git_box_open(int dir, struct git_box *ret, struct fault *f) _must_check_;
int git_box_remove(int dir, struct fault *f) _must_check_;
int git_box_make_repository(const struct git_box *b, const char *name, struct fault *f) _must_check_;

/* A git that runs in the bare repository NAME. */
struct git_child {
	int pid, out;
};
#define GIT_CHILD_NONE ((struct git_child){ .pid = -1, .out = -EBADF })
int git_start(const struct git_box *b, const char *name, const char *const *argv, const struct strbuf *in,
	      struct git_child *ret, struct fault *f) _must_check_;
int git_finish(struct git_child *c); /* its exit status, or 128 + signal */
void git_child_done(struct git_child *c);
#define _cleanup_git_child_ _cleanup_(git_child_done)

/* Runs it to its end.  ARGV begins behind "git".  IN (NULL: none) is its stdin.  -EREMOTEIO: its status is not 0. */
int git_run(const struct git_box *b, const char *name, const char *const *argv, const struct strbuf *in,
	    struct strbuf *ret, struct fault *f) _must_check_;
/* The same, and its status is the result. */
int git_run_status(const struct git_box *b, const char *name, const char *const *argv,
		   const struct strbuf *in, struct strbuf *ret, struct fault *f) _must_check_;
/* One line with an object id. */
int git_run_oid(const struct git_box *b, const char *name, const char *const *argv, char ret[GIT_OID_SIZE],
		struct fault *f) _must_check_;

bool git_oid_is_valid(const char *text); /* 40 lower-case hex digits */
