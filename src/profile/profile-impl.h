/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/key-table.h"

/* Inside the profile room only: the table of a profile's keys, and the steps of a load. */

/* All rows, terminated by a NULL path.  A section's row precedes the rows in it. */
const struct key_row *profile_keys(void);
const struct key_row *profile_key_find(const char *section, const char *key); /* SECTION NULL: top level */

/* Is the id at the beginning of TEXT, up to ':' or its end, 0? */
bool profile_is_zero_id(const char *text);

/* The steps of a load.  The caller keeps ownership of documents; their texts are replaced in place. */
/*
 * Parses TEXT, labels all values with ORIGIN (borrowed by the tree), checks every key and value, replaces
 * variables.
 */
int profile_document_parse(const char *text, size_t len, const char *origin, const struct profile_vars *vars,
			   struct jdoc **ret, struct fault *f) _must_check_;
/* Takes ownership of DOC and of the labels ORIGINS. */
int profile_from_document(struct jdoc *doc, char **origins, const struct profile_vars *vars,
			  struct profile **ret, struct fault *f) _must_check_;
/* Rules that span keys: root.path, duplicate targets, dangers. */
int profile_require_sound(const struct profile *p, const struct profile_vars *vars,
			  struct fault *f) _must_check_;
int profile_require_no_danger(const struct profile *p, const struct profile_vars *vars,
			      struct fault *f) _must_check_;

/* ${cwd} ${home} ${uid} ${user} -> values; ${session} stays, so that the digest does not depend on it. */
int profile_expand_tree(struct jdoc *doc, const struct profile_vars *vars, struct fault *f) _must_check_;
/* ${session} -> value, if known.  NULL on ENOMEM. */
char *profile_expand_session(const char *text, const struct profile_vars *vars);

/*
 * CHILD over PARENT: objects merge, arrays append without duplicates, other values are CHILD's.  Neither is
 * modified.
 */
int profile_merge(const struct jdoc *parent, const struct jdoc *child, struct jdoc **ret,
		  struct fault *f) _must_check_;
/*
 * Removes the values that the JSON Pointers in the array POINTERS name; all are resolved before the first is
 * removed.
 */
int profile_remove(struct jdoc *doc, const struct jdoc *pointers, struct fault *f) _must_check_;
