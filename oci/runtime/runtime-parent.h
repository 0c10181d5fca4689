/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * On kernels that keep no exit status for a pidfd, the engine, which is the parent, could reap a governed process before its
 * custody-warden has read its status.  So the child that called libcrun stays the parent: it becomes custody-parent
 * (src/parent/parent-proto.h), which keeps the process unreaped until the warden has the status, and then leaves it to the engine.
 *
 *	runtime_parent_open	before the fork; nothing if the kernel keeps the status itself
 *	runtime_parent_begin	in the child, before libcrun: it adopts what libcrun's helpers leave
 *	runtime_parent_become	in the child, when libcrun has made the process; does not return
 *	runtime_parent_tell	in custody-runtime: the pid; then NEAR goes to the warden
 */
struct runtime_parent {
	const char *program; /* NULL: the child exits as always */
	int near, far;	     /* custody-runtime's end of the socket, and the child's */
	int done[2];	     /* a byte: libcrun is through, and the child stays */
};
#define RUNTIME_PARENT_NONE \
	((struct runtime_parent){ .near = -EBADF, .far = -EBADF, .done = { -EBADF, -EBADF } })

/* PROGRAM: custody-parent; borrowed.  NULL: libcrun waits for the process, only the socket is needed. */
int runtime_parent_open(struct runtime_parent *p, const char *program, struct fault *f) _must_check_;
int runtime_parent_begin(const struct runtime_parent *p, struct fault *f) _must_check_;
/* Instead, if libcrun has waited for the process itself. */
void runtime_parent_report(const struct runtime_parent *p, int status);
_Noreturn void runtime_parent_become(const struct runtime_parent *p);
void runtime_parent_forked(struct runtime_parent *p); /* in custody-runtime: closes the child's ends */
bool runtime_parent_stays(
	struct runtime_parent *p); /* after DONE is readable: has the child sent its byte? */
int runtime_parent_tell(const struct runtime_parent *p, pid_t pid, struct fault *f) _must_check_;
void runtime_parent_done(struct runtime_parent *p);
#define _cleanup_parent_ _cleanup_(runtime_parent_done)
