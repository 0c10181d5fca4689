/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

/* Character references of HTML, as a server shows what it was sent. */

/* C, below 0x10000, as one to three bytes. */
size_t redact_put_utf8(char *to, int c);
/* In place: what TEXT means; returns its length.  Four bytes or more become at most three. */
size_t redact_decode_html(char *text, size_t len);
