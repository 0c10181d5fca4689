/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * A table of keys: profiles have one (profile-table.c), custody.json has one (config-table.c).  A row holds the key's place in
 * the document, its kind and range, the field that it fills, its default and the rule that tells a tighter value from a looser
 * one.  Parser, JSON Schema, `profile show --origin` and the tighten-only rule use it: a new key is a new row.
 */
enum key_kind {
	KEY_KIND_SECTION, /* object of further rows */
	KEY_KIND_BOOL,
	KEY_KIND_WORD, /* one of `words` */
	KEY_KIND_TEXT,
	KEY_KIND_PATH,
	KEY_KIND_COUNT,
	KEY_KIND_SIZE,
	KEY_KIND_SECONDS,
	KEY_KIND_PERCENT,
	KEY_KIND_WORDS, /* lists from here on */
	KEY_KIND_TEXTS,
	KEY_KIND_COUNTS,
	KEY_KIND_PATHS,
	KEY_KIND_BINDS,	  /* "SOURCE" or "SOURCE:TARGET" */
	KEY_KIND_EXTENDS, /* one name, or a list of names */
	KEY_KIND_LAYERS,  /* names of layers -> LAYER_BIT()s */
	KEY_KIND_DANGERS, /* words of profile-danger.c */
	KEY_KIND_TMPFS,	  /* objects with path and size */
	KEY_KIND_ENV,	  /* object: name -> value */
	KEY_KIND_ARGV,	  /* texts in order, duplicates kept, never empty */
	KEY_KIND_OBJECTS, /* objects of `rows`; the field is a pointer, followed by a size_t */
};

/* How a candidate's value relates to its base's; a value that no rule calls tighter or equal is looser. */
enum key_order {
	KEY_ORDER_SAME,	    /* any other value is looser */
	KEY_ORDER_FREE,	    /* does not affect confinement */
	KEY_ORDER_RANK,	    /* words have ranks, lower is tighter */
	KEY_ORDER_LIMIT,    /* less is tighter, 0 means none and is the loosest */
	KEY_ORDER_LESS,	    /* less is tighter */
	KEY_ORDER_MORE,	    /* more is tighter */
	KEY_ORDER_TRUE,	    /* true is tighter */
	KEY_ORDER_FALSE,    /* false is tighter */
	KEY_ORDER_BITS,	    /* the value's bits must be among the base's */
	KEY_ORDER_SUBSET,   /* every item must be in the base's list */
	KEY_ORDER_PATTERNS, /* the same; "LC_*" matches "LC_ALL" */
	KEY_ORDER_READS,    /* every item must be in the base's filesystem.ro or filesystem.rw */
	KEY_ORDER_SUPERSET, /* every item of the base's list must be kept */
	KEY_ORDER_BELOW,    /* the base's path or one below it */
	KEY_ORDER_CWD,	    /* the base's path or one below the workspace inside */
	KEY_ORDER_USER,	    /* the base's user, or any user but root if the base's is root */
	KEY_ORDER_NEVER,    /* not compared: resolved before (extends, remove) */
};

struct key_word {
	const char *word;
	int value, rank;
};

/* The syntax that a text must have. */
struct key_shape {
	const char *what;    /* for messages: "a name such as ..." */
	const char *pattern; /* the same for JSON Schema; NULL: any text */
	bool (*is)(const char *text);
};

#define KEY_NO_FIELD SIZE_MAX /* checked, and stored in the document only */
#define KEY_LIST_MAX 512
#define KEY_TEXT_MAX 4096 /* bytes of one text; also the limit of a path */

struct key_row {
	const char *path; /* "limits.memory" */
	enum key_kind kind;
	enum key_order order;
	size_t offset; /* in struct profile, or in the struct that the table fills */
	const char *
		fallback; /* as text; lists: words separated by blanks; NULL: empty, 0 or set by the caller */
	uint64_t min, max; /* of numbers */
	bool none;	   /* "none" and 0 disable the limit */
	const struct key_word *words;
	const struct key_shape *shape;
	const struct key_row *rows; /* of OBJECTS; ended by a NULL path */
	size_t row_size;	    /* of the struct that they fill */
	bool required;		    /* in an object of a list */
	const char *help;
};

/* Shared by both tables. */
extern const struct key_shape key_shape_name;
extern const struct key_word key_words_security[];
bool key_text_has_only(const char *text, const char *set, size_t max); /* 1 to MAX bytes, all in SET */

/* Row of KEY in SECTION; SECTION NULL: top level.  NULL: no such row. */
const struct key_row *key_table_find(const struct key_row *table, const char *section, const char *key);
bool key_row_is_in(const struct key_row *k, const char *section); /* directly; NULL: top level */
const char *key_row_name(const struct key_row *k);		  /* last part of the path */
bool key_name_is_free(const char *key); /* "x-...", "$schema": accepted and ignored */

/* The value of the row in DOC, or NULL.  Borrowed. */
const struct jdoc *key_row_value(const struct key_row *k, const struct jdoc *doc);

/* Default value as a document would hold it; NULL: no default.  Heap. */
struct jdoc *key_row_default(const struct key_row *k);

/* Words allowed for the value or for each of its items; heap; *RET NULL: any text. */
int key_row_vocabulary(const struct key_row *k, char ***ret) _must_check_;

/* Is P as tight as BASE in this row?  True for a row without a field. */
bool key_row_is_tighter(const struct key_row *k, const void *base, const void *p);

/* Check V against row K and, unless P is NULL or the row has no field, fill the field. */
int key_row_set(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars, void *p,
		struct fault *f) _must_check_;
/* The same for every member of OBJECT, by the rows of TABLE in SECTION; a key without a row is refused. */
int key_table_fill(const struct key_row *table, const char *section, const struct jdoc *object,
		   const struct profile_vars *vars, void *p, struct fault *f) _must_check_;
/* Sets the default of every key that DOC does not hold. */
int key_table_fill_defaults(const struct key_row *table, const struct jdoc *doc,
			    const struct profile_vars *vars, void *p, struct fault *f) _must_check_;
/* Rows of TABLE in SECTION as properties of a JSON Schema. */
void key_table_schema(struct jdoc *object, const struct key_row *table, const char *section);

/* Prefixes a fault with "ORIGIN:LINE:COLUMN: "; returns R. */
int key_fault_at(struct fault *f, const struct jdoc *v, int r);
#define key_fault_set(f, v, ...) key_fault_at(f, v, fault_set(f, EINVAL, __VA_ARGS__))
