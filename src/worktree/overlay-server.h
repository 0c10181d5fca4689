/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * fuse-overlayfs as implementation of a worktree's overlay, only if a profile sets `workspace.overlay` to
 * fuse.  Three processes: the supervisor starts a monitor first; the creator, in its private mount namespace,
 * mounts and sends the monitor the paths; the monitor starts the program, confined like a payload.  It always
 * exits with the supervisor, and outlives the container, because the tree is captured afterwards.
 * docs/design/overlay-fuse.md.
 */
#define OVERLAY_SERVER_PROGRAM "/usr/bin/fuse-overlayfs"
#define OVERLAY_SERVER_DEVICE "/dev/fuse"
#define OVERLAY_SERVER_TYPE "fuse.fuse-overlayfs"
#define OVERLAY_SERVER_INSTALL "apt install fuse-overlayfs"

/* Fails, with the command that fixes it, unless program and device are accessible. */
int overlay_server_require(struct fault *f) _must_check_;

struct overlay_server {
	pid_t pid;   /* the monitor, our child */
	int pidfd;   /* the same */
	int fd;	     /* to the monitor: it exits when the last copy of this is closed */
	pid_t guard; /* our child; -1: none */
};
#define OVERLAY_SERVER_NONE ((struct overlay_server){ .pid = -1, .pidfd = -EBADF, .fd = -EBADF, .guard = -1 })

/* Limits of the program, besides the fixed ones. */
struct overlay_server_limits {
	const char *seccomp; /* base64 of a BPF program */
	uint64_t memory;     /* bytes of its heap, 0: none */
};

/* In the supervisor. */
int overlay_server_start(const struct overlay_server_limits *l, struct overlay_server *ret,
			 struct fault *f) _must_check_;
/*
 * Every access to the file system blocks until the program answers, and a payload may be able to block it for
 * ever.  From here on it is killed when it does not answer for OVERLAY_SERVER_TIMEOUT_S.  TREE is a directory
 * of it; -EBADF: none exists yet, and it is killed unless overlay_server_unguard is called first.
 */
#define OVERLAY_SERVER_TIMEOUT_S 20
int overlay_server_guard(struct overlay_server *s, int tree, struct fault *f) _must_check_;
void overlay_server_unguard(struct overlay_server *s);
/* Does it still serve TREE (-EBADF: unknown)?  Negative: it has exited, F has the reason. */
int overlay_server_check(const struct overlay_server *s, int tree, struct fault *f) _must_check_;
/* All its processes have exited when this returns.  May be called twice. */
void overlay_server_stop(struct overlay_server *s);
#define _cleanup_overlay_server_ _cleanup_(overlay_server_stop)

struct overlay_server_mount_args {
	const char *lower;  /* the worktree */
	const char *sealed; /* lower above it; NULL: none */
	const char *layers; /* directory of u and w */
	const char *point;  /* an empty directory */
	uid_t uid;	    /* owner of all of it, and id of the program; never 0 */
	gid_t gid;
	bool rootless; /* already in a user namespace of our own */
};

/* In the creator; FD is a copy of the supervisor's end.  POINT shows the overlay when this returns. */
int overlay_server_mount(int fd, const struct overlay_server_mount_args *ask, struct fault *f) _must_check_;

/*
 * fuse-overlayfs 1.10 shows a directory empty once after a payload created a device 0:0 in it.  So before
 * TREE is captured each directory of UPPER is listed once.  Best effort: the capture reports what it cannot
 * read.
 */
void overlay_server_refresh(int tree, int upper);

/* Private to overlay-server*.c: the creator's request to the monitor. */
#define OVERLAY_SERVER_PATH_MAX 4096
struct overlay_server_request {
	uint32_t uid, gid;
	uint32_t rootless;
	char lower[OVERLAY_SERVER_PATH_MAX], sealed[OVERLAY_SERVER_PATH_MAX], layers[OVERLAY_SERVER_PATH_MAX],
		point[OVERLAY_SERVER_PATH_MAX];
};
/*
 * In a process of its own, PID 1 of a pid namespace; FUSE is the mounted device, WORDS receives error
 * messages.
 */
void overlay_program_exec(const struct overlay_server_request *o, const struct overlay_server_limits *l,
			  int fuse, int err) __attribute__((noreturn));
