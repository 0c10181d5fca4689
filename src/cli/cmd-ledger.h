/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/fault.h"
#include "cli/command.h"
#include "ledger/ledger-lines.h"
#include "ledger/ledger-record.h"
#include "ledger/ledger-reader.h"

int ledger_cmd_init(const struct command_call *c, struct fault *f);
int ledger_cmd_show(const struct command_call *c, struct fault *f);
int ledger_cmd_tail(const struct command_call *c, struct fault *f);
int ledger_cmd_verify(const struct command_call *c, struct fault *f);
int ledger_cmd_export(const struct command_call *c, struct fault *f);
int ledger_cmd_repair(const struct command_call *c, struct fault *f);
int ledger_cmd_checkpoint(const struct command_call *c, struct fault *f);

int ledger_open_reader(const struct command_call *c, struct ledger_reader *ret, struct fault *f) _must_check_;
int ledger_print_peers(const struct command_call *c, FILE *out,
		       struct fault *f) _must_check_; /* --json too */

/* STATUS_OK, or STATUS_NO after the number of lines that are not records was reported. */
int ledger_report_damage(const struct ledger_lines *l);

/* Selects records: built once from the options, applied to each record. */
struct ledger_filter {
	char since[32], until[32]; /* prefixes of times, in the format of records */
	const char *kind;
	char *session, *agent, *status; /* escaped as in a record */
	bool any;			/* some filter is set */
};

/* 0, or STATUS_USAGE after the error was reported. */
int ledger_filter_init(const struct command_call *c, struct ledger_filter *ret);
void ledger_filter_done(struct ledger_filter *x);
bool ledger_filter_has(const struct ledger_filter *x, const struct record *r);
