/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fault.h"

/*
 * Options of `run` and `shell`, from one table: parsing, help and completion read it.  Options of later
 * capabilities are known by name and refused, so that a script written for them does not half work.
 */
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
	bool quiet, verbose, dry_run, json, help;
	const char *result;
	int status_fd;	    /* -EBADF: none */
	int detach_fd;	    /* in the detached supervisor: where the caller waits for the id; -EBADF: none */
	char *const *words; /* all of it as given, verb first; borrowed */
	char *const *argv;  /* the command, borrowed */
	bool interactive;   /* a person's shell: its status says nothing about the session */
	bool canary;	    /* doctor's own: no option says so, and nobody is asked about it */
	int stdio[3];	    /* what the payload's input comes from and its output goes to; default 0, 1, 2 */
};

void options_init(struct run_options *o);
/* ARGV[0] is the command's name.  On success o->argv points behind the options (NULL when no command is there). */
int options_parse(struct run_options *o, int argc, char **argv, struct fault *f) _must_check_;
void options_print(FILE *out);
void options_done(struct run_options *o);
#define _cleanup_options_ _cleanup_(options_done)
