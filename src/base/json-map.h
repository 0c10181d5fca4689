/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/json.h"

/*
 * A struct and its JSON object, both ways: one function names every field once and serves the writer and the reader.
 * Reading is strict: a key that is missing, of the wrong type or out of range is a failure, and so is one that was not
 * asked for (found by jmap_end).  The first failure sticks; nothing after it has an effect.
 *
 * Reading allocates into fields that are empty; after a failure whoever owns the struct frees what is there.
 */
#define JMAP_KEYS_MAX 32
#define JMAP_PATH_MAX 96

struct jmap {
	struct jdoc *d; /* borrowed; const in all but name when reading */
	bool reading;
	int r;
	struct fault *f;
	char path[JMAP_PATH_MAX]; /* "subject.mounts[3]", for messages */
	const char *keys[JMAP_KEYS_MAX];
	size_t n_keys;
};

void jmap_init_write(struct jmap *m, struct jdoc *d, const char *label, struct fault *f);
void jmap_init_read(struct jmap *m, const struct jdoc *d, const char *label, struct fault *f);
int jmap_end(struct jmap *m) _must_check_;
int jmap_fail(struct jmap *m, int code, const char *fmt, ...) _printf_(3, 4); /* unless it failed before */

void jmap_string(struct jmap *m, const char *key, char **field);
void jmap_string_or_null(struct jmap *m, const char *key, char **field);
void jmap_path(struct jmap *m, const char *key, char **field);	       /* a string that starts with '/' */
void jmap_constant(struct jmap *m, const char *key, const char *text); /* exactly this string */
void jmap_bool(struct jmap *m, const char *key, bool *field);
void jmap_u64(struct jmap *m, const char *key, uint64_t *field); /* up to INT64_MAX */
void jmap_uint(struct jmap *m, const char *key, unsigned int *field, unsigned int max);
void jmap_strv(struct jmap *m, const char *key,
	       char ***field); /* NULL is the empty list, and comes back as one */
/* NAMES[*FIELD]; NULL-terminated. */
void jmap_word(struct jmap *m, const char *key, const char *const *names, unsigned int *field);

/* The value of KEY as reader and writer need it themselves: NULL after a failure. */
struct jdoc *jmap_value(struct jmap *m, const char *key, enum jdoc_type type);
bool jmap_is_null(const struct jmap *m, const char *key); /* reading: the value is there and null */

/* A nested object, or an item of an array (writing: appended); ended by jmap_leave. */
void jmap_enter(struct jmap *m, const char *key, struct jmap *child);
void jmap_enter_item(struct jmap *m, const char *key, struct jdoc *array, size_t i, struct jmap *child);
void jmap_leave(struct jmap *m, struct jmap *child);
