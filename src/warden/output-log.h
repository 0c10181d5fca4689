/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/*
 * What a payload writes when nobody listens: a file that never grows beyond half of what it may take.  Then it becomes the
 * old one, which is replaced, and a new one begins.  Whoever follows it sees the name of the new one appear.
 */
#define OUTPUT_LOG_MAX ((uint64_t)10 * 1024 * 1024)

struct output_log {
	int dirfd; /* borrowed */
	int fd;
	const char *name, *old; /* static texts */
	uint64_t size, max;
	int error; /* of the first bytes that could not be kept */
};
#define OUTPUT_LOG_NONE ((struct output_log){ .dirfd = -EBADF, .fd = -EBADF })

/* Makes the file; 0600. */
int output_log_open(struct output_log *l, int dirfd, const char *name, const char *old, uint64_t max,
		    struct fault *f) _must_check_;
/* What cannot be kept is dropped: a full disk is no reason to end a payload. */
void output_log_add(struct output_log *l, const char *bytes, size_t len);
void output_log_done(struct output_log *l);
#define _cleanup_output_log_ _cleanup_(output_log_done)
