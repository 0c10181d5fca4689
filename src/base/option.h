/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/*
 * The options of one command as a table.  Parser, help, manual page and completion read the same rows.  The parser has
 * no policy: it converts values and stores them at an offset of the caller's struct.
 */
enum option_kind {
	OPTION_FLAG,	 /* bool */
	OPTION_IGNORED,	 /* a flag that is accepted and has no effect */
	OPTION_REFUSED,	 /* a known name that is not supported; `help` is the error message */
	OPTION_TEXT,	 /* const char *, borrowed from the command line; with OPTION_LIST char **, copies */
	OPTION_CHOICE,	 /* const char *: one of the words of `value`, "none|host" */
	OPTION_NUMBER,	 /* uint64_t */
	OPTION_SIZE,	 /* uint64_t, bytes: 512M, 2g */
	OPTION_DURATION, /* uint64_t, seconds: 90s, 30m, 2h, 1d */
	OPTION_PERCENT,	 /* uint64_t: 1.5 is 150 */
	OPTION_FD,	 /* int, an open descriptor */
};

enum option_flag {
	OPTION_LIST = 1, /* may be repeated; the caller frees it with strv_free, also after a failure */
	OPTION_OPTIONAL_VALUE = 2, /* a value only behind '='; without one only `given` is set */
	OPTION_REQUIRED = 4,
	OPTION_NOT_ZERO = 8,
	OPTION_UTF8 = 16,   /* a value that is not UTF-8 is refused */
	OPTION_HIDDEN = 32, /* not in help, manual page or completion */
};

struct option {
	const char *name; /* without the dashes; NULL ends the table */
	char letter;	  /* 0: none */
	enum option_kind kind;
	size_t at;	   /* offset of the value */
	const char *value; /* placeholder in help ("FILE"), or the words of a choice */
	const char *help;
	unsigned int flags;
	size_t given;		 /* offset of a bool that is set with the value; 0: none */
	unsigned int group;	 /* options of one group exclude each other; 0: no group */
	unsigned int candidates; /* values that a completion offers; the program numbers them */
	uint64_t min, max;	 /* bounds of a number; 0: none.  `min` does not apply to 0 */
	int (*check)(const char *value, struct fault *f); /* may refuse a value; NULL: no check */
};

struct option_set {
	const struct option *options;
	const char *help;	    /* command line that lists them, for messages: "custody help run" */
	bool end_at_first_argument; /* the words behind the first argument belong to another command */
};

#define OPTION_HELP 1

/*
 * Parses WORDS (NULL-terminated) into VALUES.  "--name=value", "--name value", "-n value", "-nvalue", bundled letters;
 * "--" ends the options.  RET_ARGS (heap; borrowed texts, NULL-terminated) gets the arguments.  Returns 0, or OPTION_HELP
 * at the first -h or --help: then RET_ARGS is not written.
 */
int option_parse(const struct option_set *s, char *const *words, void *values, char ***ret_args,
		 struct fault *f) _must_check_;

bool option_takes_value(const struct option *o);
bool option_is_listed(const struct option *o); /* in help, manual pages and completions */
const char *option_kind_name(enum option_kind kind);
