/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "broker/broker-token.h"
#include "broker/broker.h"
#include "warden/warden.h"

/* The broker of one run, from the token to its last record. */
struct run;

struct run_broker {
	struct run *run; /* NULL: the run has no broker */
	struct broker broker;
	struct warden_side side;
	int listen_fd, state_fd;
	struct digest hash;
	char token[BROKER_TOKEN_SIZE]; /* until the creator has it */
};
#define RUN_BROKER_NONE       \
	((struct run_broker){ \
		.broker = BROKER_NONE, .side = { .fd = -EBADF }, .listen_fd = -EBADF, .state_fd = -EBADF })

/* -EPERM: the command, or another user, could change the program of a tool. */
int run_broker_require(struct run *run, struct fault *f) _must_check_;
/* Token and socket, without an address: the creator binds it. */
int run_broker_open(struct run_broker *b, struct run *run, struct fault *f) _must_check_;
void run_broker_forget(struct run_broker *b); /* the creator has the token */
/* Right before the command is released: INIT is its first process. */
int run_broker_start(struct run_broker *b, pid_t init, struct fault *f) _must_check_;
/* The container is over: the last records, before the session's own chain is closed. */
void run_broker_end(struct run_broker *b);
void run_broker_done(struct run_broker *b);
#define _cleanup_run_broker_ _cleanup_(run_broker_done)
