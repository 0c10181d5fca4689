/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Inside the card's files only: one character of an untrusted text. */
struct card_char {
	size_t step;	    /* bytes */
	unsigned int code;  /* code point, or the byte itself */
	bool is_byte;	    /* not UTF-8 */
	unsigned int width; /* columns; 0: must be escaped */
};

struct card_char card_char_at(const char *text, size_t len); /* LEN > 0 */

/* Appends "\n", "\x1b", "\u202e": syntax of $'...' in a shell. */
void card_put_escaped(struct strbuf *out, const struct card_char *c);
