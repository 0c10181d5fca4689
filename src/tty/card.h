/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "base/str.h"

/*
 * The text that a person reads before answering: rows of a label and a text.  The payload chose the texts
 * about itself, so card_draw alone enforces three rules:
 *
 * 1. No byte of a text reaches the terminal unless it is printable ASCII, or, with UTF-8, a letter of a
 * script that neither reorders nor hides its neighbours.  Everything else is escaped.
 *
 * 2. Text never begins at the column of the labels, however it is wrapped: no text looks like a row.
 *
 * 3. A cut text shows how many bytes are missing and how to see them.
 */
enum card_tone {
	CARD_PLAIN,
	CARD_STRONG,
	CARD_WARN,
};

struct card_row {
	const char *label; /* a literal of our own */
	char *text;
	enum card_tone tone;
};

struct card {
	struct card_row *rows;
	size_t n_rows;
	bool broken; /* an allocation failed: card_draw fails */
};

struct card_style {
	unsigned int columns; /* 0: 80 */
	bool color, utf8;
	bool full;		/* cut nothing */
	const char *how_to_see; /* ends the sentence "N of M bytes not shown; "; NULL: cut nothing either */
};

#define CARD_COLUMNS_MIN 24
#define CARD_ROW_LINES 12 /* of one row, before the middle of it is cut */

/* LABEL "" continues the row above. */
void card_add(struct card *c, const char *label, enum card_tone tone, const char *fmt, ...) _printf_(4, 5);
void card_done(struct card *c);
#define _cleanup_card_ _cleanup_(card_done)

/* Appends the drawn card to OUT. */
int card_draw(const struct card *c, const struct card_style *style, struct strbuf *out,
	      struct fault *f) _must_check_;

/* Options from this process's environment and the terminal FD (negative: none). */
struct card_style card_style_of(int fd);

/*
 * One word in shell syntax: bare, in single quotes, or as $'...' with every character escaped that a terminal
 * might execute or a reader might miss.
 */
void card_put_word(struct strbuf *out, const char *word);
void card_put_words(struct strbuf *out, char *const *words);
