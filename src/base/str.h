/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

/*
 * A growing text. A failed allocation sets `broken`, which is checked once at the end, not per append. `text`
 * is always NUL-terminated once something was added.
 */
struct strbuf {
	char *text;
	size_t len, room;
	bool broken;
};

void strbuf_add(struct strbuf *b, const char *bytes, size_t len);
void strbuf_puts(struct strbuf *b, const char *text);
void strbuf_putc(struct strbuf *b, char c);
void strbuf_number(struct strbuf *b, uint64_t number);	  /* as "%" PRIu64, many times faster */
void strbuf_put_word(struct strbuf *b, const char *word); /* quoted for a shell if needed */
/*
 * LINE, a command line for sh.  Messages are escaped before they reach a terminal: a line that escaping would change is
 * spelled in octal and evaluated, so that it works and has no control characters.
 */
void strbuf_put_command(struct strbuf *b, const char *line);
void strbuf_printf(struct strbuf *b, const char *fmt, ...) _printf_(2, 3);
char *
strbuf_take(struct strbuf *b); /* heap text, "" if nothing was added; NULL if broken; B is empty afterwards */
void strbuf_done(struct strbuf *b);
#define _cleanup_strbuf_ _cleanup_(strbuf_done)

bool str_eq(const char *a, const char *b); /* NULL equals only NULL */
bool str_starts(const char *text, const char *prefix);
bool str_ends(const char *text, const char *suffix);
bool str_is_utf8(const char *text, size_t len);
size_t str_ascii_len(const char *text, size_t len); /* length of the ASCII prefix of TEXT, without NUL */
size_t str_utf8_step(const char *text, size_t len); /* length of the valid UTF-8 sequence at TEXT, else 0 */

/* NULL-terminated vectors of heap strings. */
void strv_free(char **v);
DEFINE_CLEANUP(char *, strv_free)
#define _cleanup_strv_ _cleanup_(strv_freep)
size_t strv_len(char *const *v);
bool strv_has(char *const *v, const char *text);
int strv_append(char ***v, const char *text); /* -ENOMEM; V unchanged then */
int strv_appendf(char ***v, const char *fmt, ...) _printf_(2, 3);
char **strv_copy(char *const *v);

/* Decimal digits only, whole text, within range: else -EINVAL or -ERANGE. */
int str_to_u64(const char *text, uint64_t *ret);
int str_to_i64(const char *text, int64_t *ret);
/* The digits at *TEXT in BASE (8, 10 or 16, lower case); *TEXT is behind them then.  -EINVAL: none, -ERANGE. */
int str_take_u64(const char **text, unsigned int base, uint64_t *ret);
/* The decimal number behind the first KEY in TEXT and blanks, as in files of /proc; -ENOENT without one. */
int str_find_u64(const char *text, const char *key, uint64_t *ret);

/* "512", "512M", "2G" (K M G T, powers of 1024) -> bytes.  "90", "90s", "30m", "2h", "1d" -> seconds. */
int str_to_size(const char *text, uint64_t *ret);
int str_to_seconds(const char *text, uint64_t *ret);

/*
 * Index of the nearest of WORDS (NULL-terminated) by edit distance, or -1 if none is near enough to suggest.
 */
int str_nearest(const char *text, const char *const *words);

/*
 * TEXT for a terminal: control characters, DEL, C1, bytes that are not UTF-8, and characters that reorder or
 * hide text (bidirectional controls, zero-width characters, line separators) become \xNN. Heap, NULL on
 * ENOMEM.
 */
char *str_escape(const char *text);

/* Decodes \ooo in place: /proc files escape blank, tab, newline and backslash so. */
void str_unoctal(char *text);
