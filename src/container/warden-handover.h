/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdbool.h>

#include "base/fault.h"

/*
 * custody-hook passes the descriptors of a container's worktree and gate to its warden over a datagram socket (the door) in the
 * session's directory. The kernel queues them until the warden reads. Only the owner can access the directory.
 *
 * The socket's name contains a hash of the container's id, so that a hook finds the session, which the runtime does not
 * know: "door-..." until descriptors were received, "held-..." afterwards.
 */
#define WARDEN_HANDOVER_SIZE sizeof("door-0123456789abcdef")
void warden_handover_name(const char *container, bool held, char name[WARDEN_HANDOVER_SIZE]);

/* Descriptors of a worktree, which stay readable after the container and its mounts are removed, and of the gate. */
struct warden_held {
	int tree;  /* as the container sees it */
	int upper; /* the upper of its overlay; -EBADF: no overlay */
	/* Both or none: the socket that custody-init connects to, listening, and a writable directory that has its name. */
	int gate, gate_dir;
};
#define WARDEN_HELD_NONE \
	((struct warden_held){ .tree = -EBADF, .upper = -EBADF, .gate = -EBADF, .gate_dir = -EBADF })
void warden_held_done(struct warden_held *h);
#define _cleanup_warden_held_ _cleanup_(warden_held_done)

/* Creates the socket of CONTAINER in the directory SESSIONFD. */
int warden_handover_make(int sessionfd, const char *container, struct fault *f) _must_check_;

/*
 * A socket connected to the door of CONTAINER in one of the sessions below RUN; -ENOENT: no session has one. Changes
 * the working directory to "/".
 */
int warden_handover_find(const char *run, const char *container, struct fault *f) _must_check_;
int warden_handover_send(int door, const struct warden_held *h, struct fault *f) _must_check_;

/* 1: the caller owns RET; 0: nothing received yet. Descriptors of another type are an error. */
int warden_handover_receive(int door, struct warden_held *ret, struct fault *f) _must_check_;
void warden_handover_shut(int sessionfd, const char *container); /* renames door to held */
