/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "warden/output-log.h"
#include "warden/output-tail.h"

/*
 * Moves bytes from one descriptor to another without ever blocking the supervisor and without changing the flags of
 * a descriptor that others share.  Nothing is read that cannot be kept: at most one buffer is in flight.
 */
#define PUMP_BUFFER 4096 /* PIPE_BUF: a pipe that polls writable takes this much at once */

enum pump_mode {
	PUMP_SPLICE, /* between a pipe and a pipe or file, in the kernel */
	PUMP_COPY,
	PUMP_LEND, /* from a pipe to a pipe of one slot: taken from IN only when it was read from OUT */
};

struct pump {
	int in, out; /* -EBADF: closed or never there */
	enum pump_mode mode;
	bool own_in, own_out;	/* closed at the end */
	int error;		/* why what was read could not be delivered; 0: it was, or its reader left */
	bool full;		/* the last try found no room in OUT */
	size_t start, len;	/* of what was read and not yet written */
	size_t lent;		/* PUMP_LEND: bytes that stand in OUT and still in IN */
	struct output_log *log; /* takes what was read, instead of OUT; NULL: OUT does.  Set by pump_log. */
	struct tail *tail;	/* remembers what passes; NULL: nobody does.  Set after pump_init. */
	size_t told;		/* bytes that the tail has and that stand still in IN */
	char buffer[PUMP_BUFFER];
};

/* From now on what is read goes to LOG; OUT, which must be /dev/null, is only polled. */
void pump_log(struct pump *p, struct output_log *log);
/* IN or OUT negative: the pump is over before it starts. */
void pump_init(struct pump *p, int in, bool own_in, int out, bool own_out);
/*
 * IN is a pipe whose other readers must find what the far side of OUT did not read.  *RET_OUT is the end to read from,
 * close on exec.
 */
int pump_lend(struct pump *p, int in, int *ret_out, struct fault *f) _must_check_;
bool pump_is_over(const struct pump *p);
/* Fills two entries: what to wait for.  Entries with fd -1 are to be ignored. */
void pump_poll(const struct pump *p, struct pollfd ret[2]);
void pump_step(struct pump *p, const struct pollfd polled[2]);
/* After the writer is dead: moves what is left.  Returns false while OUT has no room. */
bool pump_drain(struct pump *p);
void pump_close(struct pump *p);
