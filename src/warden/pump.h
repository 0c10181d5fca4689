/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "tty/interrupt-keys.h"
#include "warden/output-log.h"
#include "warden/output-tail.h"

/*
 * Moves bytes from one descriptor to another without ever blocking the supervisor and without changing the flags of
 * a descriptor that others share.  It reads only what it can hold: at most one buffer is in flight.
 */
#define PUMP_BUFFER 4096 /* PIPE_BUF: a pipe that polls writable takes this much at once */

enum pump_mode {
	PUMP_SPLICE, /* between a pipe and a pipe or file, in the kernel */
	PUMP_COPY,
	PUMP_LEND, /* from a pipe to a pipe of one slot: removed from IN only after it was read from OUT */
};

struct pump {
	int in, out; /* -EBADF: closed or never opened */
	enum pump_mode mode;
	bool own_in, own_out;	/* closed at the end */
	int error;		/* errno of a failed write; 0: none, or the reader closed its end */
	bool full;		/* the last try found OUT full */
	size_t start, len;	/* of the bytes that were read and not yet written */
	size_t lent;		/* PUMP_LEND: bytes that are both in OUT and in IN */
	struct output_log *log; /* gets the bytes instead of OUT; NULL: OUT gets them. Set by pump_log. */
	struct tail *tail;	/* keeps the last bytes; NULL: none. Set after pump_init. */
	struct interrupt_keys
		*keys; /* sees the bytes before they are written; NULL: none. Set after pump_init. */
	size_t told;   /* bytes that the tail has and that are still in IN */
	char end;      /* written to OUT at the end of IN, twice inside of a line; 0: none */
	char last;     /* last byte written to OUT, in mode PUMP_COPY; 0: none */
	char buffer[PUMP_BUFFER];
};

/* From now on the bytes go to LOG; OUT, which must be /dev/null, is only polled. */
void pump_log(struct pump *p, struct output_log *log);
/* From now on `last` is known: the bytes pass through this process. */
void pump_watch(struct pump *p);
/* IN or OUT negative: the pump does nothing. */
void pump_init(struct pump *p, int in, bool own_in, int out, bool own_out);
/*
 * IN is a pipe whose later readers must find the bytes that the reader of OUT did not read. *RET_OUT is the read end,
 * close on exec.
 */
int pump_lend(struct pump *p, int in, int *ret_out, struct fault *f) _must_check_;
bool pump_is_over(const struct pump *p);
/* Fills two entries for poll. Entries with fd -1 are ignored. */
void pump_poll(const struct pump *p, struct pollfd ret[2]);
void pump_step(struct pump *p, const struct pollfd polled[2]);
/* After the writer exited: moves the remaining bytes. Returns false while OUT is full. */
bool pump_drain(struct pump *p);
void pump_close(struct pump *p);
