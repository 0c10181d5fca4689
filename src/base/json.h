/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/str.h"

/*
 * A JSON document as a tree. Parsed trees carry line and column of every value and key; built ones carry 0.
 * Numbers are signed 64-bit integers (a reader may allow unsigned ones as well), strings are valid UTF-8 without NUL, objects have no duplicate keys: anything
 * else is refused with its position, so that two readers can never see different documents in one text.
 *
 * Columns count characters, not bytes.  Members are kept sorted by the bytes of their keys, not in the order
 * of the text: a lookup is cheap however many keys the input has.
 *
 * Building never needs a check per step: a failed allocation marks the tree, and jdoc_write refuses it.
 */
enum jdoc_type {
	JDOC_NULL,
	JDOC_BOOL,
	JDOC_INT,
	JDOC_STRING,
	JDOC_ARRAY,
	JDOC_OBJECT,
};

struct jdoc;

struct jdoc_member {
	char *key;
	unsigned int line, column; /* of the key */
	struct jdoc *value;
};

struct jdoc {
	enum jdoc_type type;
	bool broken;	    /* an allocation failed below; the tree cannot be written */
	bool wide;	    /* an integer above INT64_MAX: INTEGER has the bits of the unsigned number */
	const char *origin; /* borrowed label of where the value came from (a file's path); NULL when unset */
	unsigned int line, column;
	union {
		bool boolean;
		int64_t integer;
		char *string;
		struct {
			struct jdoc **items;
			size_t n_items;
		};
		struct {
			struct jdoc_member *members;
			size_t n_members;
		};
	};
};

#define JDOC_DEPTH_MAX 64
#define JDOC_SIZE_MAX ((size_t)16 * 1024 * 1024)
#define JDOC_VALUES_MAX ((size_t)1 << 21) /* "[[],[],..." costs forty times its text in memory */

/* What one reader allows.  Zero, or more than the maximum above, means that maximum. */
struct jdoc_limits {
	size_t size_max;
	unsigned int depth_max;
	bool comments; /* C and C++ style, for files that people write; else refused */
	bool wide;     /* numbers up to UINT64_MAX, which engines write for "no limit" */
};

/* LABEL (usually the file's path) starts each message: "LABEL:LINE:COLUMN: what".  LIMITS may be NULL. */
int jdoc_parse(const char *text, size_t len, const char *label, const struct jdoc_limits *limits,
	       struct jdoc **ret, struct fault *f) _must_check_;

struct jdoc *jdoc_new_null(void);
struct jdoc *jdoc_new_bool(bool value);
struct jdoc *jdoc_new_int(int64_t value);
struct jdoc *jdoc_new_string(const char *value); /* NULL or invalid UTF-8 gives a broken value */
struct jdoc *jdoc_new_array(void);
struct jdoc *jdoc_new_object(void);
struct jdoc *jdoc_copy(const struct jdoc *d); /* deep; keeps places and origins */
void jdoc_free(struct jdoc *d);
DEFINE_CLEANUP(struct jdoc, jdoc_free)
#define _cleanup_jdoc_ _cleanup_(jdoc_freep)

/* All of these own VALUE from the call on, also when they fail (then the container is marked broken). */
void jdoc_set(struct jdoc *object, const char *key, struct jdoc *value); /* replaces an equal key */
void jdoc_append(struct jdoc *array, struct jdoc *value);

/* Shorthands for building. */
void jdoc_set_string(struct jdoc *object, const char *key, const char *value);
void jdoc_set_int(struct jdoc *object, const char *key, int64_t value);
void jdoc_set_bool(struct jdoc *object, const char *key, bool value);
void jdoc_append_string(struct jdoc *array, const char *value);
struct jdoc *jdoc_set_object(struct jdoc *object, const char *key); /* returns the new child, borrowed */
struct jdoc *jdoc_set_array(struct jdoc *object, const char *key);
struct jdoc *jdoc_append_object(struct jdoc *array);

/* NULL unless OBJECT is an object that has KEY. */
struct jdoc *jdoc_get(const struct jdoc *object, const char *key);
const char *jdoc_get_string(const struct jdoc *object, const char *key); /* NULL unless a string */
bool jdoc_remove(struct jdoc *object, const char *key);
bool jdoc_remove_item(struct jdoc *array, size_t index);
bool jdoc_equal(const struct jdoc *a, const struct jdoc *b);
const char *jdoc_type_name(enum jdoc_type type);

enum jdoc_style {
	JDOC_CANONICAL, /* sorted keys (by bytes), no spaces, shortest escapes: the bytes that are hashed */
	JDOC_PRETTY,	/* sorted keys, two spaces, for people; ends in LF */
};

/* Appends to OUT.  Fails with ENOMEM on a broken tree or a broken OUT, with EINVAL below JDOC_DEPTH_MAX
 * levels. */
int jdoc_write(const struct jdoc *d, enum jdoc_style style, struct strbuf *out, struct fault *f) _must_check_;

/* Appends TEXT as a quoted JSON string; bytes that are not UTF-8 become U+FFFD.  For logs and one-line
 * records. */
void jdoc_quote(struct strbuf *out, const char *text);
