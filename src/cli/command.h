/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/option.h"
#include "config/config.h"
#include "run/run-options.h"
#include "state/dirs.h"

/* Values that a completion offers for an option or an argument. */
enum candidates {
	CANDIDATES_NONE,
	CANDIDATES_WORDS, /* the words of the option's `value` or of the command's `args`, separated by '|' */
	CANDIDATES_FILE,
	CANDIDATES_DIRECTORY,
	CANDIDATES_PROGRAM, /* a program and its own arguments */
	CANDIDATES_TOPIC,   /* a command of custody, then its sub-command */
	/* From here on `custody completion --values KIND` prints them. */
	CANDIDATES_SESSION,
	CANDIDATES_SESSION_ID, /* full ids only */
	CANDIDATES_KEPT,       /* sessions whose changes are kept */
	CANDIDATES_RUNNING,    /* sessions that are running */
	CANDIDATES_PROFILE,
	CANDIDATES_LANE,
	CANDIDATES_REQUEST,
	CANDIDATES_GRANT,
	CANDIDATES_APPROVER,
	CANDIDATES_EVIDENCE,
	CANDIDATES_SANDBOX,
	CANDIDATES_CREDENTIAL,
};

struct command;

/*
 * One call of a command: the values of its options and its arguments.  The rows of command-table.c store each option at
 * its offset here; texts are borrowed from the command line, lists are owned.
 */
struct command_call {
	const struct command *group, *command; /* GROUP is NULL for a command without sub-commands */
	char *const *words;		       /* the command line as given, command first */
	char **args;			       /* arguments, NULL-terminated */
	size_t n_args;
	struct lane_pass *pass; /* with COMMAND_PROD: of the lane gate; owned */
	struct dirs dirs;	/* with COMMAND_LANE: opened before the command runs */
	struct config *config;

	struct run_options run; /* run, shell, check, bundle */
	char **env_files;

	const char *lane;
	bool set_older; /* discard, prune */
	uint64_t older_s;
	bool json, all, yes, force, dry_run, allow_prod;
	const char *reason, *as, *output, *sandbox, *agent, *worker, *profile;
	uint64_t timeout_s; /* evidence deliver; 0: default */

	uint64_t uses, for_s; /* approve; 0: default */
	const char *fleet;
	bool always;
	bool reset; /* pin set */
	int pin_fd;
	bool follow, raw; /* logs, ledger tail */
	bool set_grace;	  /* stop */
	uint64_t grace_s;
	bool stat, skip_refused, restarted; /* diff, apply */
	uint64_t deletions;		    /* apply */
	char **allow;
	bool no_pager, git_objects, count_lines; /* diff */
	const char *color;
	bool exact, local; /* evidence */
	const char *tree;
	bool show_key, peers, accept_loss, new_seal, new_key; /* ledger */
	const char *since, *until, *session, *kind, *status, *format;
	bool set_lines;
	uint64_t lines;
	const char *from_file, *from_systemd, *from_exec; /* credential */
	char **hosts;
	const char *k0_file, *seal, *key, *anchor;
	char **k0, **from_checkpoint;
	bool origin, rm;	/* profile */
	bool schema, explained; /* doctor, check */
	const char *explain, *engine;
	bool apply; /* migrate */
	bool logs;  /* reset */
	bool set_home;
	const char *home;
	const char *section,
		*values; /* help, completion: for the generators of manual pages and completions */
};
#define COMMAND_CALL_NONE ((struct command_call){ .pin_fd = -EBADF })

enum command_flag {
	COMMAND_ACTS = 1,	   /* continues when the reader of its output is gone */
	COMMAND_LANE = 2,	   /* needs the directories and the configuration of --lane */
	COMMAND_OPTIONS_FIRST = 4, /* the words behind the first argument belong to the payload */
	COMMAND_PROD = 16,     /* changes the state of the lane: prod needs both keys; not with --dry-run */
	COMMAND_PROD_ALL = 32, /* the same, with --all only */
	COMMAND_FAILS_125 = 8, /* a wrong command line is 125, not 64: statuses below are the payload's */
};

/* A row of the command table.  A command with `subs` only groups them. */
struct command {
	const char *name, *args, *summary; /* NULL name ends the table */
	int min_args, max_args;		   /* max -1: no limit */
	const struct option *options;
	int (*run)(struct command_call *c,
		   struct fault *f); /* exit status, or negative errno with F filled */
	unsigned int flags;
	enum candidates first, more; /* candidates for the first argument, for the following ones */
	const struct command *subs;
};

extern const struct command commands[];

int cmd_run(struct command_call *c, struct fault *f);
int cmd_shell(struct command_call *c, struct fault *f);
int cmd_check(struct command_call *c, struct fault *f);
int cmd_bundle(struct command_call *c, struct fault *f);
int cmd_pending(struct command_call *c, struct fault *f);
int cmd_approve(struct command_call *c, struct fault *f);
int cmd_deny(struct command_call *c, struct fault *f);
int cmd_grants(struct command_call *c, struct fault *f);
int cmd_revoke(struct command_call *c, struct fault *f);
int cmd_key_new(struct command_call *c, struct fault *f);
int cmd_key_ls(struct command_call *c, struct fault *f);
int cmd_key_show(struct command_call *c, struct fault *f);
int cmd_pin_set(struct command_call *c, struct fault *f);
int cmd_doctor(struct command_call *c, struct fault *f);
int cmd_sessions(struct command_call *c, struct fault *f);
int cmd_show(struct command_call *c, struct fault *f);
int cmd_logs(struct command_call *c, struct fault *f);
int cmd_why(struct command_call *c, struct fault *f);
int cmd_exec(struct command_call *c, struct fault *f);
int cmd_stop(struct command_call *c, struct fault *f);
int cmd_df(struct command_call *c, struct fault *f);
int cmd_prune(struct command_call *c, struct fault *f);
int cmd_diff(struct command_call *c, struct fault *f);
int cmd_apply(struct command_call *c, struct fault *f);
int cmd_discard(struct command_call *c, struct fault *f);
int cmd_evidence_ls(struct command_call *c, struct fault *f);
int cmd_evidence_show(struct command_call *c, struct fault *f);
int cmd_evidence_verify(struct command_call *c, struct fault *f);
int cmd_evidence_diff(struct command_call *c, struct fault *f);
int cmd_evidence_restore(struct command_call *c, struct fault *f);
int cmd_evidence_deliver(struct command_call *c, struct fault *f);
int cmd_evidence_pin(struct command_call *c, struct fault *f);
int cmd_evidence_unpin(struct command_call *c, struct fault *f);
int cmd_evidence_rm(struct command_call *c, struct fault *f);
int cmd_evidence_prune(struct command_call *c, struct fault *f);
int cmd_credential_add(struct command_call *c, struct fault *f);
int cmd_credential_ls(struct command_call *c, struct fault *f);
int cmd_credential_rm(struct command_call *c, struct fault *f);
int cmd_credential_test(struct command_call *c, struct fault *f);
int cmd_ledger_init(struct command_call *c, struct fault *f);
int cmd_ledger_show(struct command_call *c, struct fault *f);
int cmd_ledger_tail(struct command_call *c, struct fault *f);
int cmd_ledger_verify(struct command_call *c, struct fault *f);
int cmd_ledger_export(struct command_call *c, struct fault *f);
int cmd_ledger_require_format(const char *value, struct fault *f) _must_check_;
int cmd_ledger_repair(struct command_call *c, struct fault *f);
int cmd_ledger_checkpoint(struct command_call *c, struct fault *f);
int cmd_migrate(struct command_call *c, struct fault *f);
int cmd_profile_ls(struct command_call *c, struct fault *f);
int cmd_profile_show(struct command_call *c, struct fault *f);
int cmd_profile_check(struct command_call *c, struct fault *f);
int cmd_profile_diff(struct command_call *c, struct fault *f);
int cmd_profile_schema(struct command_call *c, struct fault *f);
int cmd_profile_trust(struct command_call *c, struct fault *f);
int cmd_recover(struct command_call *c, struct fault *f);
int cmd_setup(struct command_call *c, struct fault *f);
int cmd_reset(struct command_call *c, struct fault *f);
int cmd_help(struct command_call *c, struct fault *f);
int cmd_version(struct command_call *c, struct fault *f);
int cmd_completion(struct command_call *c, struct fault *f);
