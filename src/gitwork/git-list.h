/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/json.h"
#include "gitwork/git-index.h"

/* What changed between two trees, as git's plumbing lists it: raw modes, full ids, names between NULs. */
struct git_change {
	char status; /* A C D M R T */
	const char *old_mode, *new_mode, *old_oid, *new_oid;
	const char *path, *from; /* FROM: the old name of a renamed or copied file; else NULL */
};

#define GIT_PARENTS_MAX 64 /* of a merge, whose OLD is its first parent's */

/* The next one of TEXT (output of `diff-tree -z -c --raw --no-abbrev`) at *AT: 1; 0: the end; -EUCLEAN: another format. */
int git_change_next(struct strbuf *text, size_t *at, struct git_change *ret, struct fault *f) _must_check_;

/* One entry of a tree object, as it is stored.  Everything is borrowed. */
struct git_tree_entry {
	const char *name;
	size_t len;
	bool is_directory;
	char oid[GIT_OID_SIZE];
};
/* The next one of the LEN bytes at *AT: 1; 0: the end; -EUCLEAN: no tree. */
int git_tree_next(const char *bytes, size_t len, size_t *at, struct git_tree_entry *ret,
		  struct fault *f) _must_check_;

/* KEY has PATH; KEY_hex has its bytes as hex digits if it is not UTF-8. */
void git_put_path(struct jdoc *object, const char *key, const char *path);
int git_put_changes(struct jdoc *list, struct strbuf *text, struct fault *f) _must_check_;

/* Names in the worktree that the index does not have; a directory without any name of the index is one name, "DIR/". */
#define GIT_UNTRACKED_MAX 10000
#define GIT_ENTRIES_MAX 500000
int git_put_untracked(struct jdoc *list, const struct git_source *s, const struct git_index *x,
		      struct fault *f) _must_check_;
