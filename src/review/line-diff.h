/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/*
 * Line differences of two texts.  Myers' algorithm in linear space; where two texts have little in common, a whole stretch is
 * reported as replaced: longer than necessary, and correct.
 */
#define LINE_DIFF_BYTES \
	((size_t)16 * 1024 * 1024) /* of one text; callers show sizes and digests of larger ones */
#define LINE_DIFF_LINES ((size_t)1000000)

/* Lines A .. A + A_LEN of the old text became B .. B + B_LEN of the new one; counted from 0. */
struct line_edit {
	size_t a, a_len, b, b_len;
};

struct line_text {
	const char *bytes; /* borrowed */
	size_t len;
	size_t *starts; /* N + 1: start of each line, and the end */
	size_t n;
};

struct line_diff {
	struct line_text old, new;
	struct line_edit *edits; /* in order; none is empty, and at least one equal line separates two */
	size_t n_edits, room;
	size_t removed, added; /* lines */
};

/* Texts within the limits, else -EFBIG.  RET borrows them. */
int line_diff(const char *old, size_t old_len, const char *new, size_t new_len, struct line_diff *ret,
	      struct fault *f) _must_check_;
void line_diff_done(struct line_diff *d);
#define _cleanup_line_diff_ _cleanup_(line_diff_done)

/* Only the numbers, many times faster where texts have much in common (line-count.c).  The same limits. */
int line_diff_count(const char *old, size_t old_len, const char *new, size_t new_len, size_t *ret_removed,
		    size_t *ret_added, struct fault *f) _must_check_;

/* Unified format with CONTEXT equal lines around each edit; PUT gets one line at a time, without its line feed. */
enum line_kind {
	LINE_HUNK, /* "@@ -1,2 +1,3 @@", heap text of the diff itself */
	LINE_EQUAL,
	LINE_REMOVED,
	LINE_ADDED,
	LINE_NO_END, /* the previous line has no line feed */
};
typedef void (*line_put)(void *arg, enum line_kind kind, const char *bytes, size_t len);
void line_diff_unified(const struct line_diff *d, size_t context, line_put put, void *arg);
