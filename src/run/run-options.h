/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

/* What one run is asked to do: plain data, const while it runs.  The command line fills it (cli), or doctor does. */
struct run_options {
	const char *profile; /* default "offline" */
	const char *name, *agent, *worker, *issue;
	char **env, **volumes;
	const char *workdir, *hostname;
	const char *sandbox; /* name of the sandbox root to work in; NULL: the profile's, or none */
	const char *network; /* "none", "host"; NULL: the profile's */
	bool set_memory, set_cpu, set_pids, set_timeout;
	uint64_t memory, cpu_percent, pids, timeout_s; /* 0 = no limit */
	const char *lane;			       /* as given; NULL: not */
	bool allow_prod;
	char **provenance; /* as given: what is wrong with it is the gate's to say */
	bool wait;	   /* for an approval; WAIT_S 0: without end */
	uint64_t wait_s;
	char **grants; /* files */
	bool no_seal, seal_tree, yes;
	bool terminal; /* -t: a pty even when stdio is no terminal */
	bool detach;   /* -d: the caller gets the session's id and goes */
	bool quiet, verbose, dry_run, json;
	const char *result;
	int status_fd;	    /* -EBADF: none */
	int detach_fd;	    /* in the detached supervisor: where the caller waits for the id; -EBADF: none */
	char *const *words; /* all of it as given, verb first; borrowed */
	char *const *argv;  /* the command, borrowed */
	bool interactive;   /* a person's shell: its status says nothing about the session */
	bool canary;	    /* doctor's own: no option says so, and nobody is asked about it */
	int stdio[3];	    /* what the payload's input comes from and its output goes to; default 0, 1, 2 */
};

void run_options_init(struct run_options *o);
void run_options_done(struct run_options *o);
#define _cleanup_run_options_ _cleanup_(run_options_done)
