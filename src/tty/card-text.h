/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Inside the card's files only: one character of a text that nobody vouches for. */
struct card_char {
	size_t step;	    /* bytes */
	unsigned int code;  /* code point, or the byte itself */
	bool is_byte;	    /* not UTF-8 */
	unsigned int width; /* columns; 0: must not be shown as it is */
};

struct card_char card_char_at(const char *text, size_t len); /* LEN > 0 */

/* "\n", "\x1b", "\u202e": as $'...' of a shell understands it. */
void card_put_escaped(struct strbuf *out, const struct card_char *c);
