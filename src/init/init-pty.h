/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A pty of the container's own devpts: master for the supervisor, slave for the payload.  0 or negative errno. */
long pty_open(int *ret_master, int *ret_slave);

/*
 * Another runtime made its pty the controlling terminal of PID 1. Releases it, so that the payload's session
 * can have it, and discards the signals that this sends to us. Returns 1 if there was a terminal, 0 if not,
 * or negative errno. All signals must be blocked.
 */
long pty_release(void);

/* In the payload's process, after setsid: SLAVE becomes controlling terminal.  0 or negative errno. */
long pty_control(int slave);
