/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "container/warden-call.h"
#include "warden/container-prove.h"

struct container_watch;

/*
 * Commands that custody-runtime started in the container after their own decision (WARDEN_CALL_EXEC): custody-warden holds their
 * claims, waits for their ends through pidfds and records exec.end.  If it is killed, the claims are free, and recovery
 * records the ends as `lost`.
 *
 * Filter and no_new_privs are proven once the program is executed; a command without them is killed, and ends as `violation`.
 */
#define CONTAINER_EXECS 64

struct container_exec {
	char id[SESSION_ID_SIZE];
	pid_t pid;
	int pidfd, claim;
	int parent; /* of its custody-parent; -EBADF: the engine is its parent */
	int procfd; /* while layers are to be proven; -EBADF: they are, or none was asked */
	unsigned int tries;
	struct container_proven proven;
	bool violated; /* killed: a layer is missing */
	bool waited;   /* its custody-parent has sent STATUS */
	int status;
	uint64_t began_ns;
	uint64_t until_ns; /* it has exited, and its status is not known until then; 0: it runs */
};

struct container_execs {
	struct container_exec at[CONTAINER_EXECS];
	size_t n;
};

/* The answer to M.  Takes FDS. */
const char *container_exec_add(struct container_watch *w, const struct warden_call *m,
			       int fds[WARDEN_CALL_FDS]);
/* Fills P, CONTAINER_EXECS of them. */
void container_exec_poll(const struct container_execs *x, struct pollfd *p);
/* Milliseconds until the next is due without an event, -1: none. */
int container_exec_due_ms(const struct container_execs *x);
/* After poll: records those that have ended. */
void container_exec_step(struct container_watch *w, const struct pollfd *p);
/* Proves what can be proven by now. */
void container_exec_look(struct container_watch *w);
/* The container has ended: kills those that are left, and records all. */
void container_exec_finish(struct container_watch *w);
/* Memory and locks only: missing ends are left to recovery. */
void container_exec_done(struct container_execs *x);
