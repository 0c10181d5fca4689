/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * The verbs of an OCI runtime on libcrun.  One call per process: libcrun blocks signals, changes rlimits, keyring and
 * the subreaper flag of its caller and waits for every child.
 */
struct runtime_call {
	const char *state_root, *id;
	const char *bundle; /* must be the working directory already: libcrun records getcwd() */
	const char *console_socket, *pid_file, *notify_socket;
	int preserve_fds, listen_fds;
	bool systemd_cgroup, no_cgroup;
	bool detach, no_new_keyring, no_pivot;
	bool ignore_paused; /* exec waits until the container is resumed instead of failing */
	bool warnings;	    /* report libcrun's warnings too */
	/* Gets libcrun's messages outside its result, e.g. from the container's process after the result was sent. */
	void (*report)(void *arg, int err, const char *text, bool warning);
	void *report_arg;
};

/* A container's data from the state root. */
struct runtime_entry {
	char *bundle, *rootfs, *created, *owner;
	const char *status; /* created, running, paused, stopped */
	pid_t pid;	    /* 0 when stopped */
	bool systemd_cgroup;
};

/* CONFIG is the text of config.json.  runtime_run and runtime_exec return the process's exit status in RET_STATUS. */
int runtime_create(const struct runtime_call *c, const char *config, struct fault *f) _must_check_;
int runtime_run(const struct runtime_call *c, const char *config, int *ret_status,
		struct fault *f) _must_check_;
int runtime_start(const struct runtime_call *c, struct fault *f) _must_check_;

/* PROCESS is the path of the process's JSON; CGROUP may be NULL. */
int runtime_exec(const struct runtime_call *c, const char *process, const char *cgroup, int *ret_status,
		 struct fault *f) _must_check_;
int runtime_kill(const struct runtime_call *c, const char *signal, bool all, struct fault *f) _must_check_;
int runtime_delete(const struct runtime_call *c, bool force, struct fault *f) _must_check_;
int runtime_pause(const struct runtime_call *c, struct fault *f) _must_check_;
int runtime_resume(const struct runtime_call *c, struct fault *f) _must_check_;
int runtime_update(const struct runtime_call *c, const char *resources, struct fault *f) _must_check_;
int runtime_state(const struct runtime_call *c, FILE *out, struct fault *f) _must_check_;
int runtime_spec(bool root, FILE *out, struct fault *f) _must_check_;

/* Zero-terminated, on the heap. */
int runtime_pids(const struct runtime_call *c, pid_t **ret, struct fault *f) _must_check_;

/* -ENOENT: the container does not exist. */
int runtime_entry_load(const struct runtime_call *c, struct runtime_entry *ret, struct fault *f) _must_check_;
void runtime_entry_done(struct runtime_entry *e);
#define _cleanup_entry_ _cleanup_(runtime_entry_done)

/* Ids in the state root, sorted. */
int runtime_ids(const struct runtime_call *c, char ***ret, struct fault *f) _must_check_;
