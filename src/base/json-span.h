/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

/*
 * Pieces of a JSON text, found without taking it apart: config.json holds numbers that no C type of ours has (64-bit
 * unsigned limits), and what libcrun shall read must reach it byte for byte.  A span points into its text.
 *
 * This is a finder, not a validator: libcrun's parser judges the text.  Whatever could make two readers see two
 * documents (a key given twice or written with escapes) is refused where it is looked for.
 */
struct jspan {
	const char *at;
	size_t len;
};

/* Brackets and strings are closed and nested at most DEPTH deep: 0, -EINVAL or -E2BIG. */
int jspan_check(const char *text, size_t len, unsigned int depth) _must_check_;

/* The one value in TEXT: 0 or -EINVAL. */
int jspan_root(const char *text, size_t len, struct jspan *ret) _must_check_;

/* Value of KEY in OBJECT: 1, 0 when it is not there or OBJECT is no object, -EINVAL. */
int jspan_get(struct jspan object, const char *key, struct jspan *ret) _must_check_;
/* The same for N keys in one go: 0 or -EINVAL; .at is NULL where there is none. */
int jspan_get_each(struct jspan object, const char *const *keys, size_t n, struct jspan *ret) _must_check_;

/* Member by member: 1, 0 at the end, -EINVAL.  *AT starts as NULL; KEY keeps its quotes. */
int jspan_next_member(struct jspan object, const char **at, struct jspan *key,
		      struct jspan *value) _must_check_;

bool jspan_is(struct jspan value, char first); /* '{', '[', '"', ... */
bool jspan_key_is(struct jspan key, const char *name);

/* The text of a string value, decoded; heap; NULL when it is none or holds NUL or invalid UTF-8. */
char *jspan_string(struct jspan value);
