/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

/*
 * Parts of a JSON text, found without parsing it into a tree: config.json has numbers that struct jdoc cannot
 * hold (64-bit unsigned limits), and its text must be passed to libcrun byte for byte. A span points into its
 * text.
 *
 * This is not a validator: libcrun's parser checks the text. Ambiguities that let two readers see different
 * documents (a duplicate key, or one written with escapes) are refused in each lookup.
 */
struct jspan {
	const char *at;
	size_t len;
};

/* Brackets and strings are closed and nested at most DEPTH deep: 0, -EINVAL or -E2BIG. */
int jspan_check(const char *text, size_t len, unsigned int depth) _must_check_;

/* The one value in TEXT: 0 or -EINVAL. */
int jspan_root(const char *text, size_t len, struct jspan *ret) _must_check_;

/* Value of KEY in OBJECT: 1, 0 if it is missing or OBJECT is not an object, -EINVAL. */
int jspan_get(struct jspan object, const char *key, struct jspan *ret) _must_check_;
/* The same for N keys in one pass: 0 or -EINVAL; .at is NULL for missing keys. */
int jspan_get_each(struct jspan object, const char *const *keys, size_t n, struct jspan *ret) _must_check_;

/* Member by member: 1, 0 at the end, -EINVAL.  *AT starts as NULL; KEY keeps its quotes. */
int jspan_next_member(struct jspan object, const char **at, struct jspan *key,
		      struct jspan *value) _must_check_;

/* Element by element of an array, in the same way; 0 at once if ARRAY is not an array. */
int jspan_next_item(struct jspan array, const char **at, struct jspan *value) _must_check_;

bool jspan_is(struct jspan value, char first);		    /* '{', '[', '"', ... */
bool jspan_key_is(struct jspan key, const char *name);	    /* of a key, which has no escapes */
bool jspan_string_is(struct jspan value, const char *text); /* of a value, decoded */

/* The text of a string value, decoded; heap; NULL if it is not a string or contains NUL or invalid UTF-8. */
char *jspan_string(struct jspan value);
