/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/fault.h"
#include "layer/init-proto.h"

/*
 * RUN/sessions/ID/exec: the socket of a session's supervisor for `custody exec`.  The directory is the owner's alone; both ends
 * check the kernel's credentials of the other one all the same.  Both are the same build: fixed structs, version checked.
 *
 *	client -> HELLO
 *	       <- SESSION with a file that describes the session as JSON (docs/design/exec.md); or REFUSED with the reason
 *	       -> START with INIT_EXEC_FDS descriptors, which the supervisor passes to init; or <- REFUSED
 *	       -> STARTED, ENDED: for the session's own chain.  A client that disconnects in between has ended as `lost`
 *	       <- OVER: the session is over, and with it every process in it
 */
#define EXEC_SOCKET "exec"
#define EXEC_DESCRIPTION_MAX ((size_t)8 * 1024 * 1024)

enum exec_msg_type {
	EXEC_MSG_HELLO = 1,
	EXEC_MSG_SESSION,
	EXEC_MSG_REFUSED,
	EXEC_MSG_START,
	EXEC_MSG_STARTED,
	EXEC_MSG_ENDED,
	EXEC_MSG_OVER,
};

struct exec_msg {
	uint32_t magic, type;
	char version[32];
	char id[SESSION_ID_SIZE]; /* of the exec */
	char digest[80];	  /* START: of its subject */
	char text[256];		  /* REFUSED: the reason; ENDED: the exit reason */
	int32_t code;		  /* ENDED */
};

/* The listening end in the session's run directory; non-blocking. */
int exec_socket_make(int run_fd, struct fault *f) _must_check_;
/* A connection whose other end belongs to this user and runs in this user namespace; -EAGAIN: none waits. */
int exec_socket_accept(int fd) _must_check_;
/* To the session in RUN_FD, whose supervisor is the process SUPERVISOR. */
int exec_socket_connect(int run_fd, pid_t supervisor, struct fault *f) _must_check_;

/* FDS: N descriptors to pass, or NULL.  Never waits.  0 or negative errno. */
int exec_msg_send(int fd, struct exec_msg *m, enum exec_msg_type type, const int *fds, size_t n) _must_check_;
/*
 * Never waits.  1 and the message, whose *RET_N descriptors are the caller's; 0 at end of file; -EAGAIN: none is queued; -EPROTO: malformed, or
 * of another version.
 */
int exec_msg_receive(int fd, struct exec_msg *m, int fds[INIT_EXEC_FDS], size_t *ret_n) _must_check_;
