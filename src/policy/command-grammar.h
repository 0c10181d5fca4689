/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "policy/command-classifier.h"

/*
 * The words that policy recognises: a row lists the options of one program, or of one subcommand ("git log"), that
 * neither run a program nor load code nor write a file which the judge of the program does not see. A word that no
 * row lists makes the command unrecognised. tests/data/policy/options has all options of each program.
 */
enum grammar_flag {
	GRAMMAR_POSIX = 1 << 0, /* the first operand ends the options */
	GRAMMAR_TOTAL =
		1 << 1, /* every option of the program is listed: a word known at run time is harmless */
	GRAMMAR_DIGITS = 1 << 2,   /* -5 */
	GRAMMAR_WORDS = 1 << 3,	   /* options are whole words after one dash */
	GRAMMAR_RESPONSE = 1 << 4, /* an operand "@FILE" is a file of options, so it is not recognised */
};

/*
 * The value of an option stands behind its letter or name: ':' text, '#' a number, '<' a file or directory that is
 * read, '>' one that is written and judged, '?' optional and attached, '"' two words, '/' a working directory, '$' a
 * command up to ";", '!' an archive of this machine, '&' a sed script, '~' an optional plain suffix, '=' a setting of
 * git, '%' an optional format of git, '^' the name of a shell option.
 */
struct grammar_row {
	const char *name;
	unsigned int flags;
	char operands; /* see enum grammar_operands */
	const char *shorts;
	const char *longs; /* with blanks between */
	const char *words; /* the first operand is one of these */
};

enum grammar_operands {
	GRAMMAR_NO_OPERANDS = '0',
	GRAMMAR_READS = '<',
	GRAMMAR_TEXT = ':',
	GRAMMAR_WRITES = '>',	/* the judge sees each of them */
	GRAMMAR_COMMAND = '$',	/* runs the rest, which is judged */
	GRAMMAR_ONE_READ = '1', /* a second one would be written, and is judged */
	GRAMMAR_FORMAT = '+',	/* date: one word after a plus sign */
	GRAMMAR_BUILTIN = 'b',	/* text in which a shell finds no subscript */
	GRAMMAR_NAMES = 'i',	/* names of variables */
	GRAMMAR_SETTINGS = 'v', /* NAME or NAME=VALUE */
	GRAMMAR_TEST = 't',
	GRAMMAR_CONDITION = 'T', /* [[ ]] */
	GRAMMAR_SED = 's',
	GRAMMAR_AWK = 'a',
	GRAMMAR_DD = 'd',
	GRAMMAR_KEYS = 'n', /* sysctl: names without a value */
	GRAMMAR_KILL = 'k',
	GRAMMAR_FIND = 'f',
	GRAMMAR_IP = 'p',
	GRAMMAR_SHELL = 'h',
	GRAMMAR_SET = 'S',
	GRAMMAR_TAR = 'B',  /* as GRAMMAR_WRITES; a first word without dash is a cluster of options */
	GRAMMAR_HOST = 'H', /* names of hosts and options after a plus sign */
	GRAMMAR_SSH = 'x',
	GRAMMAR_GIT = 'g', /* a subcommand with a row of its own */
	GRAMMAR_PRINTF = 'P',
};

extern const struct grammar_row grammar_rows[]; /* sorted by name */
extern const size_t grammar_n_rows;

const struct grammar_row *grammar_find(const char *name, size_t len);

/* How ROW reads option NAME (one letter, or a long name): its kind of value, '\0' for none, -1: not listed. */
int grammar_short_kind(const struct grammar_row *row, char c);
int grammar_long_kind(const struct grammar_row *row, const char *name, size_t len);

/* Options and operands one after the other, as ROW reads them; for a judge. */
struct grammar_iter {
	const struct grammar_row *row;
	const struct shell_word *w;
	size_t n, i;
	const char *cluster; /* the rest of a word of short options */
	bool ended;
};
struct grammar_item {
	char letter;
	const char *name; /* long, LEN bytes */
	size_t len;
	const char *operand;
};
bool grammar_iter_next(struct grammar_iter *g, struct grammar_item *ret);
bool grammar_item_is(const struct grammar_item *o, const char *list); /* "ab long,other", exact */

/* The first word of the command that ROW does not list; NULL: all are listed. */
const char *grammar_unlisted_word(struct classifier *k, const struct grammar_row *row,
				  const struct shell_word *w, size_t n);

/* The words of [[ ]], or those behind an operator in it. */
bool grammar_condition_is_plain(const struct shell_word *w, size_t n);

/* --- command-grammar-text.c: small languages */
bool grammar_sed_is_plain(const char *script);
bool grammar_awk_is_plain(const char *program);
bool grammar_git_setting_is_plain(const char *setting);
bool grammar_shell_option_is_plain(const char *name);
bool grammar_name_is_plain(const char *name, size_t len); /* of a shell variable */
