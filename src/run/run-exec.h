/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "warden/warden.h"

struct run;

/* The supervisor's part of `custody exec`: its socket, the description of the session, the session's own chain. */
struct run_exec {
	struct warden_exec_job job; /* for the warden, if its descriptor is valid */
};

/* Without a socket the run goes on, and `custody exec` is refused. */
void run_exec_open(struct run *run, struct run_exec *ret);
void run_exec_done(struct run_exec *e);
#define _cleanup_run_exec_ _cleanup_(run_exec_done)
