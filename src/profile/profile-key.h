/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * The one table of keys; custody.json has another one of the same rows (config/config-key.h).  A row says where a key stands in the document, what its value may be, which field
 * it fills, what holds when nothing is said and how a tighter value is told from a looser one.  Parser, JSON
 * Schema, `profile show --origin` and the tighten-only rule read it: adding a key is adding a row.
 */
enum profile_kind {
	PROFILE_KIND_SECTION, /* object of further rows */
	PROFILE_KIND_BOOL,
	PROFILE_KIND_WORD, /* one of `words` */
	PROFILE_KIND_TEXT,
	PROFILE_KIND_PATH,
	PROFILE_KIND_COUNT,
	PROFILE_KIND_SIZE,
	PROFILE_KIND_SECONDS,
	PROFILE_KIND_PERCENT,
	PROFILE_KIND_WORDS, /* lists from here on */
	PROFILE_KIND_TEXTS,
	PROFILE_KIND_COUNTS,
	PROFILE_KIND_PATHS,
	PROFILE_KIND_BINDS,   /* "SOURCE" or "SOURCE:TARGET" */
	PROFILE_KIND_EXTENDS, /* one name, or a list of names */
	PROFILE_KIND_LAYERS,  /* names of layers -> LAYER_BIT()s */
	PROFILE_KIND_DANGERS, /* words of profile-danger.c */
	PROFILE_KIND_TMPFS,   /* objects with path and size */
	PROFILE_KIND_ENV,     /* object: name -> value */
	PROFILE_KIND_ARGV,    /* texts in their order, doubles kept, never empty */
	PROFILE_KIND_OBJECTS, /* objects of `rows`; the field is a pointer, and right behind it a size_t */
};

/* The relation of a candidate's value to its base's; what no rule calls tighter or equal is looser. */
enum profile_order {
	PROFILE_ORDER_SAME,	/* any other value is looser */
	PROFILE_ORDER_FREE,	/* says nothing about confinement */
	PROFILE_ORDER_RANK,	/* words have ranks, lower is tighter */
	PROFILE_ORDER_LIMIT,	/* less is tighter, 0 means none and is the loosest */
	PROFILE_ORDER_LESS,	/* less is tighter */
	PROFILE_ORDER_MORE,	/* more is tighter */
	PROFILE_ORDER_TRUE,	/* true is tighter */
	PROFILE_ORDER_FALSE,	/* false is tighter */
	PROFILE_ORDER_BITS,	/* the value's bits must be among the base's */
	PROFILE_ORDER_SUBSET,	/* every item must stand in the base's list */
	PROFILE_ORDER_PATTERNS, /* the same, where \"LC_*\" holds \"LC_ALL\" */
	PROFILE_ORDER_READS,	/* every item must stand in the base's filesystem.ro or filesystem.rw */
	PROFILE_ORDER_SUPERSET, /* every item of the base's list must still be there */
	PROFILE_ORDER_BELOW,	/* the base's path or one below it */
	PROFILE_ORDER_USER,	/* the base's user, or any but root where the base says root */
	PROFILE_ORDER_NEVER,	/* not compared: resolved before (extends, remove) */
};

struct profile_word {
	const char *word;
	int value, rank;
};

/* A form that a text must have. */
struct profile_shape {
	const char *what;    /* for messages: "a name such as ..." */
	const char *pattern; /* the same for JSON Schema; NULL: any text */
	bool (*is)(const char *text);
};

#define PROFILE_NO_FIELD SIZE_MAX /* checked, and kept in the document only */
#define PROFILE_LIST_MAX 512
#define PROFILE_TEXT_MAX 4096 /* bytes of one text, a path's limit as well */

struct profile_key {
	const char *path; /* "limits.memory" */
	enum profile_kind kind;
	enum profile_order order;
	size_t offset;	      /* in struct profile, or in what else the table fills */
	const char *fallback; /* as text; lists: words with blanks between; NULL: empty, 0 or the caller's
				 business */
	uint64_t min, max;    /* of numbers */
	bool none;	      /* "none" and 0 switch the limit off */
	const struct profile_word *words;
	const struct profile_shape *shape;
	const struct profile_key *rows; /* of OBJECTS; ended by a NULL path */
	size_t row_size;		/* of the struct that they fill */
	bool required;			/* in an object of a list */
	const char *help;
};

/* What two tables use. */
extern const struct profile_shape profile_name_shape;
extern const struct profile_word profile_security_words[];
bool profile_has_only(const char *text, const char *set, size_t max); /* 1 to MAX bytes, all in SET */

/* All rows; ended by a NULL path.  A section's row stands before the rows in it. */
const struct profile_key *profile_keys(void);
const struct profile_key *profile_key_find(const char *section,
					   const char *key); /* SECTION NULL: top level */
const struct profile_key *profile_row_find(const struct profile_key *table, const char *section,
					   const char *key);
bool profile_key_is_in(const struct profile_key *k, const char *section); /* directly; NULL: top level */
const char *profile_key_name(const struct profile_key *k);		  /* last part of the path */
bool profile_key_is_list(const struct profile_key *k);
bool profile_key_is_free(const char *key); /* "x-...", "$schema": accepted and left out of everything */

/* Is the id that TEXT begins with, up to ':' or its end, 0? */
bool profile_is_zero_id(const char *text);

/* The value that DOC has for the row, or NULL.  Borrowed. */
const struct jdoc *profile_key_value(const struct profile_key *k, const struct jdoc *doc);

/* Value that holds when nothing is said, as a document would say it; NULL when there is none.  Heap. */
struct jdoc *profile_key_default(const struct profile_key *k);

/* Words that the value, or each of its items, must be one of; heap; *RET NULL when any text may stand there.
 */
int profile_key_vocabulary(const struct profile_key *k, char ***ret) _must_check_;

/* Is P, in this one row, as tight as BASE?  The row must have a field, or the answer is yes. */
bool profile_key_is_tighter(const struct profile_key *k, const void *base, const void *p);

/* Check V against row K and, unless P is NULL or the row has no field, fill the field. */
int profile_value_set(const struct profile_key *k, const struct jdoc *v, const struct profile_vars *vars,
		      void *p, struct fault *f) _must_check_;
/* The same for every member of OBJECT, by the rows of TABLE in SECTION; a key without a row is refused. */
int profile_object_fill(const struct profile_key *table, const char *section, const struct jdoc *object,
			const struct profile_vars *vars, void *p, struct fault *f) _must_check_;
/* What DOC says nothing of gets its default. */
int profile_defaults_fill(const struct profile_key *table, const struct jdoc *doc,
			  const struct profile_vars *vars, void *p, struct fault *f) _must_check_;
/* Rows of TABLE in SECTION as properties of a JSON Schema. */
void profile_schema_members(struct jdoc *object, const struct profile_key *table, const char *section);

/* "ORIGIN:LINE:COLUMN: " in front of a fault; returns R. */
int profile_at(struct fault *f, const struct jdoc *v, int r);
#define profile_complain(f, v, ...) profile_at(f, v, fault_set(f, EINVAL, __VA_ARGS__))

/*
 * The steps of a load.  Documents stay owned by the caller; texts in them are replaced in place.
 */
/* Parse TEXT, label all values with ORIGIN (borrowed by the tree), check every key and value, replace
 * variables. */
int profile_document_parse(const char *text, size_t len, const char *origin, const struct profile_vars *vars,
			   struct jdoc **ret, struct fault *f) _must_check_;
/* Fill every field of *P from a document; no rule that spans two keys is checked. */
int profile_document_fill(const struct jdoc *doc, const struct profile_vars *vars, struct profile *p,
			  struct fault *f) _must_check_;
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
