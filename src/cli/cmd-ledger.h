/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/fault.h"
#include "base/json.h"
#include "state/dirs.h"
#include "ledger/ledger-record.h"
#include "ledger/ledger-reader.h"

/* One call of `custody ledger VERB`: every option of every verb; the table in cmd-ledger.c says which has which. */
struct ledger_call {
	struct dirs dirs;
	const char *lane;
	const char *path; /* a file, a directory or "-"; NULL: the lane's own ledger */
	bool json, follow, key, peers;
	bool accept_loss, new_seal, new_key;
	const char *since, *until, *session, *agent, *kind, *status;
	const char *lines, *output, *k0_file;
	const char *seal, *pin, *anchor;
	char **k0, **from_checkpoint;
};

int ledger_cmd_init(const struct ledger_call *c, struct fault *f);
int ledger_cmd_show(const struct ledger_call *c, struct fault *f);
int ledger_cmd_tail(const struct ledger_call *c, struct fault *f);
int ledger_cmd_verify(const struct ledger_call *c, struct fault *f);
int ledger_cmd_export(const struct ledger_call *c, struct fault *f);
int ledger_cmd_repair(const struct ledger_call *c, struct fault *f);
int ledger_cmd_checkpoint(const struct ledger_call *c, struct fault *f);

int ledger_usage(const char *fmt, ...) _printf_(1, 2); /* says it on stderr, returns STATUS_USAGE */
int ledger_print(const struct jdoc *d, struct fault *f);
int ledger_open_source(const struct ledger_call *c, struct ledger_reader *ret, struct fault *f) _must_check_;
int ledger_print_peers(const struct ledger_call *c, FILE *out, struct fault *f) _must_check_; /* --json too */

/* Which records are wanted.  Made from the call once, then asked per record. */
struct ledger_filter {
	char since[32], until[32]; /* beginnings of times, as records have them */
	const char *kind;
	char *session, *agent, *status; /* as a record spells them */
	bool any;			/* is anything left out? */
};

/* Status: 0, or STATUS_USAGE after saying why. */
int ledger_filter_init(const struct ledger_call *c, struct ledger_filter *ret);
void ledger_filter_done(struct ledger_filter *x);
bool ledger_filter_has(const struct ledger_filter *x, const struct record *r);
