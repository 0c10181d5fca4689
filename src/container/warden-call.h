/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/fault.h"

/*
 * What custody-runtime says to the custody-warden of an engine's container: the socket `call` in RUN/sessions/ID, made by
 * create with mode 0600 and served by the warden until the container has ended.  SOCK_SEQPACKET; one message and one answer
 * at a time.  The warden answers its own user only (SO_PEERCRED).
 *
 *	START	the container is about to start.  The warden proves what it can see, uses the grant up, records the start,
 *		synced, and answers; after a refusal nothing may be started.  Repeated after a caller died: the same answer.
 *	STARTED	libcrun has released the process, on the same connection.  The warden proves the rest and kills the container
 *		if anything is missing; then the answer is a refusal.  After the container's end it closes the connection.
 *	EXEC	a further process was started in it by `exec`, after its own decision.  With two descriptors: the claim of that
 *		exec, locked, and a pidfd of the process; and the socket of its custody-parent if it has one.  The warden records its end.
 */
#define WARDEN_CALL_NAME "call"

enum warden_call_type {
	WARDEN_CALL_NONE,
	WARDEN_CALL_START,
	WARDEN_CALL_STARTED,
	WARDEN_CALL_EXEC,
	WARDEN_CALL_OK,	     /* answer */
	WARDEN_CALL_REFUSED, /* answer: TEXT has the reason */
};

#define WARDEN_CALL_TEXT 1024
#define WARDEN_CALL_FDS 3     /* of EXEC: claim, pidfd, custody-parent */
#define WARDEN_CALL_FDS_MIN 2 /* the last one may be missing */

struct warden_call {
	enum warden_call_type type;
	char exec[SESSION_ID_SIZE]; /* EXEC: id of its records */
	struct digest digest;	    /* EXEC: of its subject */
	pid_t pid;		    /* EXEC: of the process that the pidfd pins, for its records */
	char text[WARDEN_CALL_TEXT];
};

/* Creates the socket in the directory SESSIONFD, listening. */
int warden_call_listen(int sessionfd, struct fault *f) _must_check_;
/* PATH is RUN/sessions/ID.  -ECONNREFUSED, -ENOENT: the warden is gone. */
int warden_call_connect(const char *path, struct fault *f) _must_check_;

/* FDS: those of the type, NULL: none. */
int warden_call_send(int fd, const struct warden_call *m, const int fds[WARDEN_CALL_FDS],
		     struct fault *f) _must_check_;
/* 1: received; 0: end of file; -EAGAIN: nothing yet.  FDS are the caller's in any case, -EBADF: none came. */
int warden_call_receive(int fd, struct warden_call *ret, int fds[WARDEN_CALL_FDS],
			struct fault *f) _must_check_;

/* Sends M and waits for the answer: a refusal is -EACCES with the warden's reason, -EPIPE: the warden has ended. */
int warden_call_ask(int fd, const struct warden_call *m, const int fds[WARDEN_CALL_FDS],
		    struct fault *f) _must_check_;
