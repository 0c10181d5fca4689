/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/key-table.h"

/* Inside the profile room only: the table of a profile's keys, and the steps of a load. */

/* All rows; ended by a NULL path.  A section's row stands before the rows in it. */
const struct key_row *profile_keys(void);
const struct key_row *profile_key_find(const char *section, const char *key); /* SECTION NULL: top level */

/* Is the id that TEXT begins with, up to ':' or its end, 0? */
bool profile_is_zero_id(const char *text);

/*
 * The steps of a load.  Documents stay owned by the caller; texts in them are replaced in place.
 */
/* Parse TEXT, label all values with ORIGIN (borrowed by the tree), check every key and value, replace
 * variables. */
int profile_document_parse(const char *text, size_t len, const char *origin, const struct profile_vars *vars,
			   struct jdoc **ret, struct fault *f) _must_check_;
/* Owns DOC and the labels ORIGINS from the call on. */
int profile_from_document(struct jdoc *doc, char **origins, const struct profile_vars *vars,
			  struct profile **ret, struct fault *f) _must_check_;
/* Rules that span keys: root.path, double targets, dangers. */
int profile_require_sound(const struct profile *p, const struct profile_vars *vars,
			  struct fault *f) _must_check_;
int profile_require_no_danger(const struct profile *p, const struct profile_vars *vars,
			      struct fault *f) _must_check_;

/* ${cwd} ${home} ${uid} ${user} -> values; ${session} stays, since a digest must not depend on it. */
int profile_expand_tree(struct jdoc *doc, const struct profile_vars *vars, struct fault *f) _must_check_;
/* ${session} -> value, where it is known.  NULL on ENOMEM. */
char *profile_expand_session(const char *text, const struct profile_vars *vars);

/* CHILD over PARENT: objects merge, arrays append without doubles, the rest is CHILD's.  Both stay intact. */
int profile_merge(const struct jdoc *parent, const struct jdoc *child, struct jdoc **ret,
		  struct fault *f) _must_check_;
/* Take away what each JSON Pointer of the array POINTERS names; all are resolved before the first is removed.
 */
int profile_remove(struct jdoc *doc, const struct jdoc *pointers, struct fault *f) _must_check_;
