/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * fuse-overlayfs as the maker of a worktree's overlay, where a profile says `workspace.overlay` fuse and nowhere else.
 * Three processes have to do with it: the supervisor starts a keeper before there is anything; the creator, in its private
 * mount namespace, mounts and tells the keeper what from; the keeper starts the program, confined as a payload is.  It ends
 * with the supervisor in whatever way that ends, and outlives the container, whose tree is still to be captured.
 * docs/design/overlay-fuse.md.
 */
#define OVERLAY_SERVER_PROGRAM "/usr/bin/fuse-overlayfs"
#define OVERLAY_SERVER_DEVICE "/dev/fuse"
#define OVERLAY_SERVER_TYPE "fuse.fuse-overlayfs"
#define OVERLAY_SERVER_INSTALL "apt install fuse-overlayfs"

/* Fails, with the command that helps, unless program and device are there for us. */
int overlay_server_require(struct fault *f) _must_check_;

struct overlay_server {
	pid_t pid;   /* the keeper, our child */
	int pidfd;   /* the same */
	int fd;	     /* to the keeper: it ends with the last copy of this */
	pid_t guard; /* our child; -1: none */
};
#define OVERLAY_SERVER_NONE ((struct overlay_server){ .pid = -1, .pidfd = -EBADF, .fd = -EBADF, .guard = -1 })

/* How the program is confined, besides what all of them are. */
struct overlay_server_limits {
	const char *seccomp; /* base64 of a BPF program */
	uint64_t memory;     /* bytes of its heap, 0: none */
};

/* In the supervisor. */
int overlay_server_start(const struct overlay_server_limits *l, struct overlay_server *ret,
			 struct fault *f) _must_check_;
/*
 * Whoever asks the file system waits for the program, and a payload may have found out how to make it wait for ever.  From
 * here on it is killed when it does not answer for OVERLAY_SERVER_TIMEOUT_S.  TREE is a directory of it; -EBADF: there is none
 * yet, and it is killed unless overlay_server_unguard comes first.
 */
#define OVERLAY_SERVER_TIMEOUT_S 20
int overlay_server_guard(struct overlay_server *s, int tree, struct fault *f) _must_check_;
void overlay_server_unguard(struct overlay_server *s);
/* Does it still serve TREE (-EBADF: who knows)?  Negative: it has ended, F says how. */
int overlay_server_check(const struct overlay_server *s, int tree, struct fault *f) _must_check_;
/* All its processes are gone when this returns.  May be called twice. */
void overlay_server_stop(struct overlay_server *s);
#define _cleanup_overlay_server_ _cleanup_(overlay_server_stop)

struct overlay_server_mount_args {
	const char *lower;  /* the worktree */
	const char *sealed; /* on top of it; NULL: nothing */
	const char *layers; /* directory of u and w */
	const char *point;  /* an empty directory */
	uid_t uid;	    /* whose all of it is, and whom the program runs as; never 0 */
	gid_t gid;
	bool rootless; /* we are in a user namespace of our own already */
};

/* In the creator; FD is the supervisor's end, a copy.  POINT shows the overlay when this returns. */
int overlay_server_mount(int fd, const struct overlay_server_mount_args *ask, struct fault *f) _must_check_;

/*
 * A directory in which a payload made a device 0:0 is shown empty once by fuse-overlayfs 1.10.  So before TREE is captured
 * each directory that the layer UPPER has is listed, for nothing.  Best effort: the capture says what it cannot read.
 */
void overlay_server_refresh(int tree, int upper);

/* Private to overlay-server*.c: what the creator asks of the keeper. */
#define OVERLAY_SERVER_PATH_MAX 4096
struct overlay_server_request {
	uint32_t uid, gid;
	uint32_t rootless;
	char lower[OVERLAY_SERVER_PATH_MAX], sealed[OVERLAY_SERVER_PATH_MAX], layers[OVERLAY_SERVER_PATH_MAX],
		point[OVERLAY_SERVER_PATH_MAX];
};
/* In a process of its own, PID 1 of a pid namespace; FUSE is the mounted device, WORDS where complaints go. */
void overlay_program_exec(const struct overlay_server_request *o, const struct overlay_server_limits *l,
			  int fuse, int words) __attribute__((noreturn));
