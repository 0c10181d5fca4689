/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

#include "broker/broker-credential.h"

/*
 * One tool that runs: a keeper (base/process-keeper.h) between the broker and the program, which ends with the call, with the broker,
 * and with the program.
 */
struct broker_process {
	pid_t pid;
	int pidfd;
	int in, out; /* ends of the program's stdin and stdout, non-blocking; -EBADF: closed */
	bool judged; /* OUT begins with one enum broker_verdict: the program has credentials */
};

/* What the process between says of a program with credentials, before its output or instead of it. */
enum broker_verdict {
	BROKER_VERDICT_REFUSED = 'r', /* a credential could not be used: the program was not started */
	BROKER_VERDICT_FOUND = 'f',   /* its output has a credential */
	BROKER_VERDICT_TOO_MUCH = 'm',
	BROKER_VERDICT_OUTPUT = 'o', /* the output follows */
};

struct broker_program {
	const char *path;
	char *const *argv, *const *env;
	/* Not NULL: this function of custody in place of the program, and no credentials of the tool. */
	int (*work)(void *arg);
	void *arg;
	/* NULL or without one: no credentials.  Else those of FDS, in this order; OUTPUT_MAX is the limit of the output. */
	const struct broker_credential *credentials;
	const struct broker_credential_fds *fds;
	uint64_t output_max;
	bool says_why; /* with credentials: its output is read also if it fails */
};
#define BROKER_PROCESS_NONE \
	((struct broker_process){ .pid = -1, .pidfd = -EBADF, .in = -EBADF, .out = -EBADF })

int broker_process_start(const struct broker_program *program, struct broker_process *ret,
			 struct fault *f) _must_check_;
/* The same for a function of custody, in a copy of this process without its descriptors. */
int broker_process_start_work(int (*work)(void *arg), void *arg, struct broker_process *ret,
			      struct fault *f) _must_check_;
void broker_process_kill(const struct broker_process *p); /* its tree; PIDFD reports the end */
/* In its child: executes P with ENV. */
_Noreturn void broker_process_execute(const struct broker_program *p, char *const *env, pid_t parent);
/* broker-relay.c: the process between, for a program with credentials; stdin and stdout are the program's. */
_Noreturn void broker_relay(const struct broker_program *p);
/* After PIDFD polled readable: the program's exit status, 128 + signal, 126 or 127 if it could not be executed. */
int broker_process_reap(struct broker_process *p);
