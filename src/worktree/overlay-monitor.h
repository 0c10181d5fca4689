/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "worktree/overlay-server.h"

/* Private to overlay-*.c: the process between supervisor and fuse-overlayfs. */

/* Descriptors that come with an order. */
enum { OVERLAY_KEEPER_FUSE, OVERLAY_KEEPER_MOUNT, OVERLAY_KEEPER_USER, OVERLAY_KEEPER_FDS };

/* Its only message: how the program ended. */
struct overlay_keeper_end {
	char text[600];
};

/* In a child of PARENT; FD is its end of the socket.  Ends when nobody holds the other one, or the program ends. */
void overlay_keeper(int fd, pid_t parent, const struct overlay_server_limits *l) __attribute__((noreturn));
