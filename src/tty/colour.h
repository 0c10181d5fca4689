/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/* Colours of a diff: git's defaults. */
enum colour {
	COLOUR_HEAD,   /* bold */
	COLOUR_HUNK,   /* cyan */
	COLOUR_OLD,    /* red */
	COLOUR_NEW,    /* green */
	COLOUR_COMMIT, /* yellow */
};

/*
 * WHEN is auto, always or never; NULL is auto: only for a terminal (a pager on one counts), whose TERM is neither missing nor
 * dumb, and without NO_COLOR.
 */
bool colour_is_wanted(const char *when, bool terminal);
/* Text that begins, and text that ends the colour; "" if not ON. */
const char *colour_begin(bool on, enum colour colour);
const char *colour_end(bool on);
