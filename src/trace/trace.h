/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "trace/trace-call.h"
#include "trace/trace-message.h"

/*
 * The observer of one session: a process of its own, child of the supervisor, that answers the notifications of the session's
 * system call filter and reports each call.  docs/design/trace.md.
 *
 * It ends with a message of TRACE_KIND_END when no process of the session is left.  If the supervisor dies, the kernel kills it; if
 * it dies, the link ends without that message, each observed call fails with ENOSYS, and the session is lost.
 */
struct trace {
	int pid, pidfd, link;
};
#define TRACE_NONE ((struct trace){ .pid = -1, .pidfd = -EBADF, .link = -EBADF })

/* WORDS: TRACE_EXEC and so on. */
int trace_start(uint32_t words, struct trace *ret, struct fault *f) _must_check_;
/* The descriptor of the filter's notifications; stays the caller's. */
int trace_give(const struct trace *t, int listener, struct fault *f) _must_check_;
/*
 * One message: 1; -EAGAIN: none is queued, after TRACE_END_MS with WAIT; 0: the observer has exited.  BYTES is the memory of RET.
 */
#define TRACE_END_MS 5000
int trace_receive(const struct trace *t, bool wait, char bytes[TRACE_MESSAGE_MAX],
		  struct trace_message *ret) _must_check_;
void trace_done(struct trace *t);

/* trace-server.c: the process itself. */
_Noreturn void trace_serve(uint32_t words, int link);
