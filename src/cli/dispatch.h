/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/fault.h"

/*
 * One command = one entry = one cmd-<verb>.c.  Help and argument counts come from the table in
 * main.c.  A command returns the exit status, or a negative errno with F filled: then main reports once.
 */
#define COMMANDS_MAX 64

struct command {
	const char *name;
	const char *args;
	const char *help;
	int min_args, max_args;				    /* after the name; max -1: no bound */
	int (*run)(int argc, char **argv, struct fault *f); /* argv[0] is the command's name */
	bool acts;     /* goes on when nobody reads its output any more */
	bool own_help; /* has more to say to --help than this table */
};

/* Runs argv[1] from TABLE (ended by a NULL name), reports on ERR, returns the exit status. */
int command_run(const struct command *table, int argc, char **argv, FILE *err) _must_check_;
void command_print_help(const struct command *table, FILE *out);

struct strbuf;
/* JSON to stdout.  To a terminal in ASCII: that says the same, and no name in it says anything to the terminal. */
int command_put_json(const struct strbuf *text, struct fault *f) _must_check_;
/* What `custody help NAME` and `custody NAME --help` print.  Returns the exit status. */
int command_help(const struct command *table, const char *name, FILE *out, FILE *err) _must_check_;

int cmd_run(int argc, char **argv, struct fault *f);
int cmd_reset(int argc, char **argv, struct fault *f);
int cmd_recover(int argc, char **argv, struct fault *f);
int cmd_sessions(int argc, char **argv, struct fault *f);
int cmd_show(int argc, char **argv, struct fault *f);
int cmd_logs(int argc, char **argv, struct fault *f);
int cmd_stop(int argc, char **argv, struct fault *f);
int cmd_shell(int argc, char **argv, struct fault *f);
int cmd_check(int argc, char **argv, struct fault *f);
int cmd_bundle(int argc, char **argv, struct fault *f);
int cmd_diff(int argc, char **argv, struct fault *f);
int cmd_apply(int argc, char **argv, struct fault *f);
int cmd_discard(int argc, char **argv, struct fault *f);
int cmd_evidence(int argc, char **argv, struct fault *f);
int cmd_ledger(int argc, char **argv, struct fault *f);
int cmd_migrate(int argc, char **argv, struct fault *f);
int cmd_profile(int argc, char **argv, struct fault *f);
int cmd_pending(int argc, char **argv, struct fault *f);
int cmd_approve(int argc, char **argv, struct fault *f);
int cmd_deny(int argc, char **argv, struct fault *f);
int cmd_grants(int argc, char **argv, struct fault *f);
int cmd_revoke(int argc, char **argv, struct fault *f);
int cmd_key(int argc, char **argv, struct fault *f);
int cmd_pin(int argc, char **argv, struct fault *f);
int cmd_doctor(int argc, char **argv, struct fault *f);
