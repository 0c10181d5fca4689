/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/fault.h"

/* Descriptors that a caller may pass on: NR_OPEN of the kernel. */
#define RUNTIME_FDS_MAX (1 << 20)

/*
 * The command line of custody-runtime: every verb and option of runc and crun, in one table each.  Strings are
 * borrowed from argv; only the vectors are owned.
 */
enum runtime_verb {
	VERB_NONE, /* only global options were given */
	VERB_CHECKPOINT,
	VERB_CREATE,
	VERB_DELETE,
	VERB_EXEC,
	VERB_FEATURES,
	VERB_HELP,
	VERB_KILL,
	VERB_LIST,
	VERB_PAUSE,
	VERB_PS,
	VERB_RESTORE,
	VERB_RESUME,
	VERB_RUN,
	VERB_SPEC,
	VERB_START,
	VERB_STATE,
	VERB_UPDATE,
	VERB_MAX_,
};

/* The limits that `update` takes one by one; runtime-update.c maps each to the resources JSON. */
enum runtime_limit {
	LIMIT_BLKIO_WEIGHT,
	LIMIT_CPU_BURST,
	LIMIT_CPU_IDLE,
	LIMIT_CPU_PERIOD,
	LIMIT_CPU_QUOTA,
	LIMIT_CPU_RT_PERIOD,
	LIMIT_CPU_RT_RUNTIME,
	LIMIT_CPU_SHARES,
	LIMIT_CPUSET_CPUS,
	LIMIT_CPUSET_MEMS,
	LIMIT_KERNEL_MEMORY,
	LIMIT_KERNEL_MEMORY_TCP,
	LIMIT_MEMORY,
	LIMIT_MEMORY_RESERVATION,
	LIMIT_MEMORY_SWAP,
	LIMIT_PIDS,
	LIMIT_MAX_,
};

/* A repeatable option: borrowed strings, NULL-terminated once one was added. */
struct runtime_list {
	const char **items;
	size_t n;
};

struct runtime_options {
	enum runtime_verb verb;
	bool help, version;

	const char *root;
	const char *log, *log_format, *log_level;
	const char *cgroup_manager;
	const char *profile, *lane;
	bool allow_prod;
	bool debug, systemd_cgroup;

	const char *bundle, *config, *console_socket, *pid_file, *notify_socket;
	const char *process, *cwd, *user, *process_label, *apparmor, *cgroup;
	const char *format, *resources;
	unsigned int preserve_fds;
	bool detach, keep, no_pivot, no_new_keyring, no_new_privs, tty, ignore_paused;
	bool all, force, regex, quiet, rootless;
	struct runtime_list env, caps, gids;
	const char *limits[LIMIT_MAX_];

	char **args; /* words that are not options: the id, then a signal or a command; borrowed, NULL-terminated */
	size_t n_args;
	char **args_room; /* owned storage of args */
};

/*
 * On failure RET holds the options before the error, so that the caller knows where to log; the caller calls
 * runtime_options_done in both cases.
 */
int runtime_options_parse(int argc, char **argv, struct runtime_options *ret, struct fault *f) _must_check_;
void runtime_options_done(struct runtime_options *o);
#define _cleanup_options_ _cleanup_(runtime_options_done)

const char *runtime_verb_name(enum runtime_verb verb);
void runtime_options_help(enum runtime_verb verb,
			  FILE *out); /* VERB_NONE: the verbs and the global options */
