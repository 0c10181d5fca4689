/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdbool.h>

#include "base/fault.h"

/*
 * Where custody-hook hands the worktree of a container to its warden: a datagram socket in the session's directory.  What
 * was brought waits there for a warden that has not looked yet.  The directory is its owner's alone, and so is the door.
 *
 * Its name tells the container's id, so that hooks find the session that a runtime knows nothing of: "door-..." until
 * something was brought, "held-..." from then on.
 */
#define WARDEN_HANDOVER_SIZE sizeof("door-0123456789abcdef")
void warden_handover_name(const char *container, bool held, char name[WARDEN_HANDOVER_SIZE]);

/* What is held of a worktree: descriptors that stay readable when the container and its mounts are gone. */
struct warden_held {
	int tree;  /* as the container sees it */
	int upper; /* the layer of its changes; -EBADF: there is none */
};
#define WARDEN_HELD_NONE ((struct warden_held){ .tree = -EBADF, .upper = -EBADF })
void warden_held_done(struct warden_held *h);
#define _cleanup_warden_held_ _cleanup_(warden_held_done)

/* The door of CONTAINER, made in the directory SESSIONFD: a socket. */
int warden_handover_make(int sessionfd, const char *container, struct fault *f) _must_check_;

/*
 * The door that waits for CONTAINER, in one of the sessions below RUN: a connected socket; -ENOENT: no session knows it.
 * The working directory is "/" afterwards.
 */
int warden_handover_find(const char *run, const char *container, struct fault *f) _must_check_;
int warden_handover_bring(int door, const struct warden_held *h, struct fault *f) _must_check_;

/* 1: RET is ours; 0: nobody came yet.  Whatever is no pair of directories is an error. */
int warden_handover_receive(int door, struct warden_held *ret, struct fault *f) _must_check_;
void warden_handover_shut(int sessionfd, const char *container); /* nobody else comes; the name says so */
