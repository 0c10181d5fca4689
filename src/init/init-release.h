/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "init/init-options.h"
#include "init/init-payload.h"
#include "layer/init-proto.h"

/* The report on descriptor INIT_FD and the wait for GO: of init, and of its child for a further command. */

/* WHAT, and the errno of R if it is negative, on stderr.  Returns STATUS_FAILED. */
int release_fail(const char *what, long r);

/* Sends MSG as REPORT, with a new pty's master if O wants one, and waits.  0: GO, and START has the slave; else the exit status. */
int release_wait(const struct init_options *o, struct init_msg *msg, struct payload_start *start);
