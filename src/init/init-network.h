/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

struct init_msg;

/* Waits until the supervisor has prepared the network namespace of this process.  0, or the exit status. */
int network_wait(struct init_msg *m);
