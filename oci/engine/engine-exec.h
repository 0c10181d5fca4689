/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/str.h"

/*
 * A command in a governed container (`custody-runtime exec`): judged as a subject of its own, tightened as the container was,
 * recorded as exec.* within the container's session.  docs/design/engine.md has the steps; decide() in engine-exec.c is their list.
 *
 *	engine_exec_open	decides; the intent is on the disk
 *	...			libcrun makes the process from engine_exec_text; it waits before it executes the program
 *	engine_exec_start	uses the grant up, records the start; the container's warden supervises it from here on
 *	...			the caller releases the process
 *
 * If a step between them fails, the caller kills the process and calls engine_exec_refuse.
 */
struct engine_exec_call {
	const char *id;	  /* of the container */
	const char *dir;  /* ROOT/ID */
	const char *text; /* of the process */
	size_t len;
	const char *cgroup; /* below the container's; NULL: the container's */
	unsigned int preserved;
	bool allow_prod;
	char *const *argv; /* of custody-runtime, for the command that a refused lane shows */
};

struct engine_exec;

/*
 * 0 and *RET NULL: the container is not governed.  -ENOENT: it has no record.  Else negative: refused, and recorded where there is a
 * ledger to record it in.
 */
int engine_exec_open(const struct engine_exec_call *call, struct engine_exec **ret,
		     struct fault *f) _must_check_;
/* Of the process, as libcrun gets it. */
const struct strbuf *engine_exec_text(const struct engine_exec *x);

/* In the child that calls libcrun: the lane's key must not be in the memory of a process inside. */
void engine_exec_forget(struct engine_exec *x);

/* custody-parent, for oci/runtime/runtime-parent.h; heap. */
char *engine_exec_parent(const struct engine_exec *x);

/* The process PID, pinned by PIDFD.  PARENT: the socket of its custody-parent; -EBADF: it has none. */
int engine_exec_start(struct engine_exec *x, pid_t pid, int pidfd, int parent, struct fault *f) _must_check_;

/* R and F: why.  Returns R, or with a text about the record if that failed.  After the start the warden records its end. */
int engine_exec_refuse(struct engine_exec *x, int r, struct fault *f);
void engine_exec_free(struct engine_exec *x);
DEFINE_CLEANUP(struct engine_exec, engine_exec_free)
#define _cleanup_engine_exec_ _cleanup_(engine_exec_freep)
