/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

/*
 * Columns that TEXT takes on a terminal, not bytes.  TEXT comes from str_escape.  Not wcwidth(): it knows only ASCII unless
 * the program loads a locale, and a static program cannot load every locale.
 */
size_t text_width(const char *text);
/* Bytes of the longest prefix of TEXT that takes at most COLUMNS; whole characters, with their combining marks. */
size_t text_width_fit(const char *text, size_t columns);
