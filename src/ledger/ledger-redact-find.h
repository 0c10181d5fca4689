/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ledger/ledger-redact.h"

/* Private to ledger-redact*.c: where a secret is. */
struct redact_place {
	const char *p;
	const char *text; /* P is in it */
	bool code;	  /* it is shell text: words in it are commands */
	bool whole;	  /* P is a word of an argv: its value ends with it */
	bool marked;	  /* placeholders in it are custody's own and stay */
	char open;	  /* the quote in which P stands */
	bool first;	  /* P is right behind it */
	const struct redact *rules;
	const char *program; /* the last one so far whose short options take a password; NULL: none */
};

/* A short option that takes a password. */
struct redact_short {
	const char *program;
	char letter;
	bool attached; /* only so: the next word is something else */
	bool login;    /* NAME:PASSWORD */
};

/* Length of the secret at W; the *RET_KEEP bytes before it stay.  WORD_START: P begins a word. */
size_t redact_find(const struct redact_place *w, bool word_start, size_t *ret_keep);
/* The same of a word of an argv that begins like an option, an assignment or a header: its secret ends with it. */
size_t redact_find_word(const struct redact_place *w, size_t *ret_keep);

bool redact_is_name(char c);
bool redact_is_token(char c);
/*
 * Only characters behind which nothing can hide, and at least REDACT_PLAIN_MIN of them.  A dash may begin an option, a dot a
 * path, and the shell expands a tilde.
 */
bool redact_is_plain(const char *p, size_t len);
/* Is the value of LEN bytes at P, or the word of TEXT that it is a part of, the name of a file? */
bool redact_is_file(const struct redact *rules, const char *text, const char *p, size_t len);
/* Is P, in the shell text TEXT, a part of the first word of a command? */
bool redact_is_command(const char *text, const char *p);
size_t redact_marker_run(const char *p); /* of a placeholder at P; 0: none */

/* Behind the option at P: --token, -password, and those of the site.  NULL: none of them. */
const char *redact_skip_flag(const char *p, const struct redact *rules);
/* Skips the name of "name:password", or smbclient's "name%password", unless it is a pair of ids. */
size_t redact_login_run(const char *p, size_t len, size_t *ret_keep);
const char *redact_program_at(const char *p);
size_t redact_cluster_run(const char *p); /* of letters behind a dash */
/* The short option of PROGRAM whose value follows the cluster of letters at P, which has LEN bytes with its dash. */
const struct redact_short *redact_short_find(const char *program, const char *p, size_t len);
