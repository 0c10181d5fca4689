/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/fault.h"
#include "cli/command.h"
#include "ledger/ledger-record.h"
#include "ledger/ledger-reader.h"

int ledger_cmd_init(const struct command_call *c, struct fault *f);
int ledger_cmd_show(const struct command_call *c, struct fault *f);
int ledger_cmd_tail(const struct command_call *c, struct fault *f);
int ledger_cmd_verify(const struct command_call *c, struct fault *f);
int ledger_cmd_export(const struct command_call *c, struct fault *f);
int ledger_cmd_repair(const struct command_call *c, struct fault *f);
int ledger_cmd_checkpoint(const struct command_call *c, struct fault *f);

int ledger_open_source(const struct command_call *c, struct ledger_reader *ret, struct fault *f) _must_check_;
int ledger_print_peers(const struct command_call *c, FILE *out,
		       struct fault *f) _must_check_; /* --json too */

/* Which records are wanted.  Made from the call once, then asked per record. */
struct ledger_filter {
	char since[32], until[32]; /* beginnings of times, as records have them */
	const char *kind;
	char *session, *agent, *status; /* as a record spells them */
	bool any;			/* is anything left out? */
};

/* Status: 0, or STATUS_USAGE after saying why. */
int ledger_filter_init(const struct command_call *c, struct ledger_filter *ret);
void ledger_filter_done(struct ledger_filter *x);
bool ledger_filter_has(const struct ledger_filter *x, const struct record *r);
