/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <sys/utsname.h>

#include "base/fault.h"

/*
 * Objects outside that the canary tries to reach: a file, a listener, a socket, shared memory, a variable.  They are harmless
 * and vanish with this process, except the directory: doctor_decoy_remove removes it and returns to the previous directory.
 */
struct decoy {
	char *dir;   /* 0755, empty; the current directory until doctor_decoy_remove: the canary's worktree */
	char *trace; /* file that exists if the canary can write to the original worktree */
	char *secret; /* a world-readable file */
	char *tree; /* a directory in DIR; both hold a socket and a FIFO, with this process at the other end */
	int channel_fds[4];
	char socket[48];
	int socket_fd, port_fd, back_fd;
	uint16_t port;
	int shm;
	void *memory;
	char hostname[65];
};

#define DECOY_NONE                                                                                         \
	{                                                                                                  \
		.channel_fds = { -EBADF, -EBADF, -EBADF, -EBADF }, .socket_fd = -EBADF, .port_fd = -EBADF, \
		.back_fd = -EBADF, .shm = -1, .memory = NULL                                               \
	}
int doctor_decoy_setup(struct decoy *b, struct fault *f) _must_check_;
void doctor_decoy_remove(struct decoy *b);
#define _cleanup_decoy_ _cleanup_(doctor_decoy_remove)
