/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

/* Parameters of one run: plain data, const while it runs.  Filled by the command line (cli) or by doctor. */
struct run_options {
	const char *profile; /* NULL: CUSTODY_PROFILE, the worktree's .custody/profile, custody.json */
	const char *name, *agent, *worker, *issue;
	char **env, **volumes;
	const char *workdir, *hostname;
	const char *sandbox; /* name of the sandbox root; NULL: workspace.sandbox of the profile, or none */
	bool disposable;     /* --disposable: that root is made with the stamp */
	bool continued;	     /* --continue: the run begins on the kept changes of a session: */
	const char *session; /* as named; NULL: the newest one of this directory that has some */
	bool fresh;	     /* --fresh: it begins on the worktree, whatever the profile says */
	bool restarted;	     /* although the machine was restarted since */
	bool here;	     /* the worktree is the current directory, not the project around it */
	const char *home;    /* "memory", "keep", "keep=NAME"; NULL: process.home of the profile */
	bool show_secrets;   /* of the worktree */
	bool tools;	     /* show the caller's tools */
	const char *network; /* "none", "host"; NULL: the profile's */
	bool set_memory, set_cpu, set_pids, set_timeout;
	char **without; /* names of limits that may be missing, separated by commas */
	uint64_t memory, cpu_percent, pids, timeout_s; /* 0 = no limit */
	const char *lane;			       /* as given; NULL: not given */
	bool allow_prod;
	char **provenance; /* as given; policy validates it */
	bool wait;	   /* wait for an approval; WAIT_S 0: no limit */
	uint64_t wait_s;
	char **grants; /* files */
	bool no_seal, seal_tree, yes;
	bool terminal; /* -t: a pty even if stdio is not a terminal */
	bool detach;   /* -d: the caller exits after printing the session's id */
	bool quiet, verbose, dry_run, json;
	const char *result;
	int status_fd; /* -EBADF: none */
	int detach_fd; /* in the detached supervisor: pipe to the caller, for the id; -EBADF: not detached */
	char *const *words; /* the command line as given, command first; borrowed */
	char *const *argv;  /* the command, borrowed */
	bool interactive;   /* `custody shell`: an exit status other than 0 is normal */
	bool canary;	    /* doctor's test run: needs no approval; no option sets it */
	int stdio[3];	    /* stdin, stdout and stderr of the payload; default 0, 1, 2 */
};

void run_options_init(struct run_options *o);
void run_options_done(struct run_options *o);
#define _cleanup_run_options_ _cleanup_(run_options_done)
