/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "state/dirs.h"
#include "ledger/ledger-redact.h"

/*
 * logs/custody.log of a sandbox root: operations, for people. One line per operation, allowed or denied:
 * time, agent, worker, operation, path or command, status, separated by tabs. The ledger is authoritative;
 * this log is its extract for one root, with the same redaction. Appended by one write each, so lines of
 * several runs do not mix; never mounted in any sandbox.
 */
#define SANDBOX_LOG "custody.log"

struct sandbox_line {
	const char *agent, *worker;  /* NULL: "-" */
	const char *operation;	     /* "run", "end", "reset" ... */
	char *const *command;	     /* or */
	const char *path;	     /* NULL both: "-" */
	const char *status;	     /* "allowed", "denied: policy", "exited 0" ... */
	const struct redact *redact; /* NULL: the built-in lists */
};

/* The text of a line, without time and newline; heap, NULL on ENOMEM. */
char *sandbox_log_line_text(const struct sandbox_line *l);

int sandbox_log_write(int logs_fd, const struct sandbox_line *l, struct fault *f) _must_check_;

/* Writes to the log of the root whose workspace contains WORKTREE (resolved); 0 too if it is in none. */
int sandbox_log_write_worktree(const struct dirs *d, const char *worktree, const struct sandbox_line *l,
			       struct fault *f) _must_check_;
