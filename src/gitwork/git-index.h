/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "base/str.h"
#include "gitwork/git-source.h"

/*
 * A hostile index (git's file `index`, versions 2 to 4), read without git.  Its entries go to `git update-index --index-info`,
 * which refuses names that no tree may have.
 */
#define GIT_INDEX_MAX ((size_t)64 << 20)

struct git_index {
	struct strbuf info;  /* for `git update-index -z --index-info` */
	struct strbuf names; /* one after the other, each with a NUL */
	struct git_index_name {
		size_t at; /* where it begins */
		bool submodule;
	} * list; /* as the file has them */
	size_t n;
};

/*
 * A file that was announced (git add -N) has no content in the index: it is left out, and so untracked.
 * -EFBIG: its names have more than GIT_INDEX_MAX bytes, which in version 4 are less in the file;
 * -EUCLEAN: no index, or a damaged one; -ENOTSUP: split, sparse or of a later version; -EBUSY: unmerged entries.
 */
int git_index_parse(const char *bytes, size_t len, struct git_index *ret, struct fault *f) _must_check_;
/* Without the file it is empty. */
int git_index_load(const struct git_source *s, struct git_index *ret, struct fault *f) _must_check_;
void git_index_done(struct git_index *x);
#define _cleanup_git_index_ _cleanup_(git_index_done)

bool git_index_has(const struct git_index *x, const char *name);
bool git_index_has_submodule(const struct git_index *x, const char *name);
bool git_index_has_below(const struct git_index *x, const char *dir); /* a name that begins with "DIR/" */
