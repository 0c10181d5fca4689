/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * The last part of a payload's output, standard output and error in the order of arrival: two pipes have no common
 * order. Kept in a pipe: bytes that are spliced to the caller are referenced here, not copied; a full pipe loses its
 * older half.
 */
#define TAIL_PIPE_SIZE (1024 * 1024) /* a slot for each write, at most a page in each */

struct tail {
	int in, out; /* of the pipe */
	int null;
};
#define TAIL_NONE ((struct tail){ .in = -EBADF, .out = -EBADF, .null = -EBADF })

int tail_open(struct tail *t, struct fault *f) _must_check_;
/* References the first bytes of PIPE, at most MAX, which stay in it. Returns how many. */
size_t tail_tee(struct tail *t, int pipe, size_t max);
void tail_add(struct tail *t, const char *bytes, size_t len);
/* Everything, once. RET: heap. */
int tail_read(struct tail *t, char **ret, size_t *ret_len, struct fault *f) _must_check_;
void tail_done(struct tail *t);
#define _cleanup_tail_ _cleanup_(tail_done)
