/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "config/config.h"
#include "state/dirs.h"

/* A call of one of the verbs around approvals: what the command line says, and the lane it is about. */
struct verb_call {
	bool json, all, yes, reset, follow, raw;
	const char *grace; /* --time */
	const char *lane, *uses, *time, *reason, *as, *pin_fd, *output;
	const char *words[2]; /* what is no option; NULL behind the last */
	struct dirs dirs;
	struct config *config;
};

struct verb {
	const char *name; /* "approve", "key new" */
	const char *args;
	const char *options; /* those it takes, each with a blank around */
	size_t min_words, max_words;
	int (*run)(struct verb_call *c, struct fault *f); /* exit status, or negative errno */
};

/* Parses ARGV (behind the verb's name), loads directories and configuration, runs.  Usage errors are told here. */
int verb_run(const struct verb *v, int argc, char **argv, struct fault *f) _must_check_;

/* The verb in a row of them that ARGV[1] names; usage is told when there is none.  ROW ends with a NULL name. */
int verb_run_of(const struct verb *row, int argc, char **argv, struct fault *f) _must_check_;

/* Says it on stderr after the verb's name; STATUS_USAGE. */
int verb_usage(const struct verb *v, const char *fmt, ...) _printf_(2, 3);

struct jdoc;
int verb_print(const struct jdoc *d, struct fault *f) _must_check_;
