/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/json.h"

/*
 * Converts between a struct and its JSON object: one function names every field once and serves writer and
 * reader. Reading is strict: a key that is missing, of the wrong type, out of range or unexpected (found by
 * jmap_end) is a failure. After the first failure all calls have no effect.
 *
 * Reading allocates into empty fields; after a failure the owner of the struct frees them.
 */
#define JMAP_KEYS_MAX 32
#define JMAP_PATH_MAX 96

struct jmap {
	struct jdoc *d; /* borrowed; not modified when reading */
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
int jmap_fail(struct jmap *m, int code, const char *fmt, ...)
	_printf_(3, 4); /* unless an earlier call failed */

void jmap_string(struct jmap *m, const char *key, char **field);
void jmap_string_or_null(struct jmap *m, const char *key, char **field);
void jmap_path(struct jmap *m, const char *key, char **field);	       /* a string that starts with '/' */
void jmap_constant(struct jmap *m, const char *key, const char *text); /* exactly this string */
void jmap_bool(struct jmap *m, const char *key, bool *field);
void jmap_u64(struct jmap *m, const char *key, uint64_t *field); /* up to INT64_MAX */
void jmap_uint(struct jmap *m, const char *key, unsigned int *field, unsigned int max);
void jmap_strv(struct jmap *m, const char *key,
	       char ***field); /* NULL is the empty list, and is read back as NULL */
/* NAMES[*FIELD]; NULL-terminated. */
void jmap_word(struct jmap *m, const char *key, const char *const *names, unsigned int *field);

/* The raw value of KEY, for special cases; NULL after a failure. */
struct jdoc *jmap_value(struct jmap *m, const char *key, enum jdoc_type type);
bool jmap_is_null(const struct jmap *m, const char *key); /* reading: the value exists and is null */

/* A nested object, or an item of an array (writing: appended); ended by jmap_leave. */
void jmap_enter(struct jmap *m, const char *key, struct jmap *child);
void jmap_enter_item(struct jmap *m, const char *key, struct jdoc *array, size_t i, struct jmap *child);
void jmap_leave(struct jmap *m, struct jmap *child);
