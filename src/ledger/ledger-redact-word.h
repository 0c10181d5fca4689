/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Private to ledger-redact*.c: lengths of values in shell text, and names that suggest a secret. */

/* The quote in which a position of shell text stands. */
struct redact_quote {
	char open; /* '"' or '\''; 0: none */
	bool escaped;
};

void redact_quote_feed(struct redact_quote *q, char c);
/*
 * The shell word at P: with its quotes, escapes and substitutions, "a"b\ c is one.  It ends where the quote OPEN ends, in
 * which P stands.  TO_QUOTE: P is a part of a quoted word: blanks do not end it.
 */
size_t redact_word_run(const char *p, char open, bool to_quote);
/* A JSON string, or the shell word. */
size_t redact_json_run(const char *p);
/* Does the name of a variable, an option or a member suggest a secret? */
bool redact_name_is_secret(const char *name, size_t len);
/* The same of an option whose value is the next word: --token-file and --no-password have no secret. */
bool redact_option_is_secret(const char *name, size_t len);
/* Does the name end in a word (file, command) that says that its value is no secret itself? */
bool redact_name_is_harmless(const char *name, size_t len);
