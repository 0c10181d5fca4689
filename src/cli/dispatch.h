/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdio.h>

#include "cli/command.h"

/* Runs the command that ARGV[1] names, reports failures on ERR, returns the exit status. */
int dispatch_run(const struct command *table, int argc, char **argv, FILE *err) _must_check_;

/* The command that WORD is another spelling of (ps, ls, kill, rm, --version), or WORD itself. */
const char *dispatch_name(const char *word);
/* NAME in TABLE, or NULL. */
const struct command *dispatch_find(const struct command *table, const char *name);
/* Reports the unknown command NAME (of GROUP, or NULL) and the nearest one on ERR; STATUS_USAGE. */
int dispatch_refuse(const struct command *table, const struct command *group, const char *name, FILE *err);

/* Reports a wrong command line on stderr; returns the exit status of the command for it. */
int dispatch_usage(const struct command_call *c, const char *fmt, ...) _printf_(2, 3);
