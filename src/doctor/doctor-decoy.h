/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <sys/utsname.h>

#include "base/fault.h"

/*
 * Things outside that the canary tries to reach: a file, a listener, a socket, shared memory, a variable.  All of them
 * are harmless and end with this process, the directory apart: doctor_decoy_remove removes it and goes back to where we were.
 */
struct decoy {
	char *dir;    /* 0755, empty; the current directory while the bait lies: the canary's worktree */
	char *trace;  /* what the canary leaves if it can write to the original */
	char *secret; /* a file that anybody may read */
	char socket[48];
	int socket_fd, port_fd, back_fd;
	uint16_t port;
	int shm;
	void *memory;
	char hostname[65];
};

#define DECOY_NONE                                                                                   \
	{                                                                                            \
		.socket_fd = -EBADF, .port_fd = -EBADF, .back_fd = -EBADF, .shm = -1, .memory = NULL \
	}
int doctor_decoy_setup(struct decoy *b, struct fault *f) _must_check_;
void doctor_decoy_remove(struct decoy *b);
#define _cleanup_decoy_ _cleanup_(doctor_decoy_remove)
