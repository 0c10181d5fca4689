/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

/* Private to the json files: the text being read, and positions in it that only move forward. */
struct jdoc_text {
	const char *bytes;
	size_t len;
	const char *label;
	bool comments;
};

struct jdoc_place {
	size_t offset;
	unsigned int line, column;
};

#define JDOC_PLACE_START ((struct jdoc_place){ .line = 1, .column = 1 })

/* Position of the reader when yajl failed. */
struct jdoc_context {
	struct jdoc_place at; /* after the last valid token */
	enum { JDOC_LAST_NOTHING, JDOC_LAST_OPEN, JDOC_LAST_KEY, JDOC_LAST_VALUE } last;
	char inside;		   /* '[', '{', or 0 at the top */
	unsigned int line, column; /* where that container opens */
};

void jdoc_place_move(const struct jdoc_text *t, struct jdoc_place *p, size_t offset);

/* Skips blanks and, if allowed, comments. An unclosed comment is not skipped. */
void jdoc_place_skip(const struct jdoc_text *t, struct jdoc_place *p);

/* "LABEL:LINE:COLUMN: ..." with EINVAL. */
int jdoc_refuse(const struct jdoc_text *t, const struct jdoc_place *p, struct fault *f, const char *fmt, ...)
	_printf_(4, 5);

/* Explains why the text after C is invalid; false if it finds no reason. */
bool jdoc_explain(const struct jdoc_text *t, const struct jdoc_context *c, struct fault *f);

/*
 * Refuses escapes that yajl accepts, in the string token from START to before END: NUL and lone surrogates.
 */
int jdoc_check_escapes(const struct jdoc_text *t, const struct jdoc_place *start, size_t end,
		       struct fault *f) _must_check_;
