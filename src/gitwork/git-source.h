/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

#include "base/str.h"
#include "gitwork/git-box.h"

/*
 * The repository of a worktree that another program may change at any time, and may have prepared: read by descriptors, one name
 * after the other, no link followed, with the rights of the worktree's owner.  git never runs in it, and its configuration,
 * hooks, attributes and alternates are never read.
 */
struct git_source {
	int top; /* the worktree */
	int git; /* its directory .git */
	uid_t uid;
	gid_t gid; /* of TOP: files are opened with their rights */
};
#define GIT_SOURCE_NONE ((struct git_source){ .top = -EBADF, .git = -EBADF })

#define GIT_OBJECTS_MAX ((uint64_t)1 << 30) /* bytes that are copied */
#define GIT_LOOSE_MAX 200000
#define GIT_PACKS_MAX 1000
#define GIT_REF_MAX ((size_t)4096)
#define GIT_PACKED_REFS_MAX ((size_t)32 << 20)
#define GIT_REF_NAME_MAX 512
#define GIT_SYMREFS_MAX 5

/* TOP stays the caller's. */
int git_source_open(int top, struct git_source *ret, struct fault *f) _must_check_;
void git_source_done(struct git_source *s);
#define _cleanup_git_source_ _cleanup_(git_source_done)

/* One name in DIR: a directory; a regular file.  Never blocks, never follows a link. */
int git_source_open_dir(const struct git_source *s, int dir, const char *name) _must_check_;
int git_source_open_file(const struct git_source *s, int dir, const char *name) _must_check_;

/* What git.fetch writes: one directory, and a file in it that is new. */
int git_source_make_dir(const struct git_source *s, int dir,
			const char *name) _must_check_; /* opened; it may exist */
int git_source_create(const struct git_source *s, int dir,
		      const char *name) _must_check_; /* replaces a left one */
int git_source_rename(const struct git_source *s, int dir, const char *from, const char *to) _must_check_;
void git_source_unlink(const struct git_source *s, int dir, const char *name);

/* The commit or tag that NAME ("HEAD", "refs/...") has; -ENOENT without a fault: it does not exist. */
int git_source_read_ref(const struct git_source *s, const char *name, char ret[GIT_OID_SIZE],
			struct fault *f) _must_check_;
/* WORD: an object id, or the name of a branch, remote branch or tag. */
int git_source_find(const struct git_source *s, const char *word, char ret[GIT_OID_SIZE],
		    struct fault *f) _must_check_;

/* git-copy.c: its packs and loose objects into the repository GIT_SOURCE of B. */
int git_source_copy(const struct git_source *s, const struct git_box *b, struct fault *f) _must_check_;
/* After it: the verified objects below the ids WANT (NULL-terminated) in the repository GIT_CLEAN of B, as refs/own/N. */
int git_source_import(const struct git_box *b, char *const *want, struct fault *f) _must_check_;
