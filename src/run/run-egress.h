/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "egress/egress-net.h"
#include "egress/egress.h"
#include "warden/warden.h"

/* custody-egress of one run, from the listeners to its last record. */
struct run;

struct run_egress {
	struct run *run; /* NULL: the profile allows no hosts */
	struct egress egress;
	struct warden_side side;
	int listeners[EGRESS_LISTENERS_MAX];
	size_t n_listeners;
};
#define RUN_EGRESS_NONE ((struct run_egress){ .egress = EGRESS_NONE, .side = { .fd = -EBADF } })

void run_egress_open(struct run_egress *e, struct run *run);
/* Prepares the network namespace of PID, which waits for it. */
int run_egress_prepare(struct run_egress *e, pid_t pid, struct fault *f) _must_check_;
/* Right before the command is released. */
int run_egress_start(struct run_egress *e, struct fault *f) _must_check_;
/* The container is over: the last records, before the session's own chain is closed. */
void run_egress_end(struct run_egress *e);
void run_egress_done(struct run_egress *e);
#define _cleanup_run_egress_ _cleanup_(run_egress_done)
