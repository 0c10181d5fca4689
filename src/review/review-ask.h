/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "review/changes.h"

/*
 * Changes for which apply asks a person: more deletions than the profile's number, and files that other programs obey without
 * a question (CI, agents, editors).  The payload wrote the upper, so it cannot answer: limit and names come from the session's
 * profile, kept outside of the worktree, and from the command line.  docs/design/review.md.
 */
struct review_alias {
	char *path;	  /* where the name leads */
	const char *name; /* of a list; borrowed */
};

struct review_gate {
	uint64_t limit;	    /* deletions without a question, from the profile */
	char *const *ask;   /* further names of the profile; NULL: none */
	char *const *allow; /* names of the profile that the built-in list loses; NULL: none */
	uint64_t deletions; /* that the command line allows; 0: none */
	size_t more; /* deletions beside these changes, that one apply will do with them: of the repository */
	char *const *paths; /* that the command line allows, with everything below; NULL: none */
	const struct review_alias *aliases; /* of review_alias_find */
	size_t n_aliases;
};

struct review_question {
	size_t deletions; /* review_is_deletion: files, links and directories */
	bool too_many;	  /* more than the profile and the command line allow */
	size_t names;	  /* changes with `asks` set */
};

/* Is CH an entry that apply will remove, also for one of another type: an empty directory for a file? */
bool review_is_deletion(const struct change *ch);
size_t review_count_deletions(const struct changes *c);

/* Counts the picked changes that are not refused, and sets `asks` of each that needs an answer.  Pure. */
void review_ask(struct changes *c, const struct review_gate *g, struct review_question *ret);

/*
 * Does PATTERN name PATH or a directory above it?  PATTERN is one name or several with '/', each with `*`, `?` and `[...]` of
 * fnmatch; it may begin in any directory.  Case of ASCII letters does not count.  *RET_END (may be NULL): bytes of PATH that
 * PATTERN matched, with the directories before it.
 */
bool review_ask_matches(const char *pattern, const char *path, size_t *ret_end);

/* The built-in list, NULL-terminated. */
const char *const *review_ask_names(void);

/*
 * Names of the lists of G that are a link at the root of the worktree, or below one, in the tree that apply produces: a change of
 * the file that CLAUDE.md names is one of CLAUDE.md.  Names with wildcards have no place to look at.
 */
int review_alias_find(const struct changes *c, int base, const struct review_gate *g,
		      struct review_alias **ret, size_t *ret_n, struct fault *f) _must_check_;
void review_alias_free(struct review_alias *list, size_t n);
