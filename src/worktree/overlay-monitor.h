/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "worktree/overlay-server.h"

/* Private to overlay-*.c: the process between supervisor and fuse-overlayfs. */

/* Descriptors that are passed with a request. */
enum { OVERLAY_MONITOR_FUSE, OVERLAY_MONITOR_MOUNT, OVERLAY_MONITOR_USER, OVERLAY_MONITOR_FDS };

/* Its only message: how the program exited. */
struct overlay_monitor_result {
	char text[600];
};

/*
 * In a child of PARENT; FD is its end of the socket.  Exits when the other end is closed, or when the program
 * exits.
 */
void overlay_monitor(int fd, pid_t parent, const struct overlay_server_limits *l) __attribute__((noreturn));
