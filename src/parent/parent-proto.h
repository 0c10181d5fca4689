/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/*
 * custody-parent, the parent of one process of a governed engine container on kernels that do not keep the exit status of a process
 * for others than its parent (before Linux 6.15).  Its standard input is a socket pair (SOCK_SEQPACKET), the only descriptor
 * that it has:
 *
 *	custody-runtime	the pid, once, as parent_word
 *	custody-parent	the wait status, once, as parent_word, when the process has exited; it is not reaped yet
 *	custody-warden	shuts the socket down: custody-parent exits, and the engine, which adopts the process, reaps it
 *
 * End of file instead of the pid, or nothing left to send to: custody-parent exits, and the engine is the parent at once.
 */
struct parent_word {
	int32_t value;
};
