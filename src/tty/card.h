/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "base/str.h"

/*
 * What a person reads before answering: rows of a label and a text.  What a row says of the payload was chosen by the
 * payload, so the card is drawn under three rules that card_draw alone enforces:
 *
 * 1. No byte of a text reaches the terminal unless it is printable ASCII, or, with UTF-8, a letter of a script that
 *    neither reorders nor hides its neighbours.  Everything else is spelled out.
 * 2. Text never begins at the column where labels stand, however it is wrapped: no text looks like a row.
 * 3. What is cut says how much is missing and how to see it.
 */
enum card_tone {
	CARD_PLAIN,
	CARD_STRONG,
	CARD_WARN,
};

struct card_row {
	const char *label; /* ours, a literal */
	char *text;
	enum card_tone tone;
};

struct card {
	struct card_row *rows;
	size_t n_rows;
	bool broken; /* an allocation failed: card_draw refuses */
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

/* What this process's environment and the terminal FD (negative: none) ask for. */
struct card_style card_style_of(int fd);

/*
 * One word as a shell would read it back: bare, in single quotes, or as $'...' with everything spelled out that a
 * terminal might obey or a reader might miss.
 */
void card_put_word(struct strbuf *out, const char *word);
void card_put_words(struct strbuf *out, char *const *words);
