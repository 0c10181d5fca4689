/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/*
 * Output of a detached payload: a file that grows up to half of the limit. Then it replaces the old file, and a new
 * one is created. A reader that follows it sees the new file under the name.
 */
#define OUTPUT_LOG_MAX ((uint64_t)10 * 1024 * 1024)

struct output_log {
	int dirfd; /* borrowed */
	int fd;
	const char *name, *old; /* static texts */
	uint64_t size, max;
	int error; /* errno of the first write that failed */
};
#define OUTPUT_LOG_NONE ((struct output_log){ .dirfd = -EBADF, .fd = -EBADF })

/* Creates the file; 0600. */
int output_log_open(struct output_log *l, int dirfd, const char *name, const char *old, uint64_t max,
		    struct fault *f) _must_check_;
/* Output that cannot be written is dropped: a full disk does not kill the payload. */
void output_log_add(struct output_log *l, const char *bytes, size_t len);
void output_log_done(struct output_log *l);
#define _cleanup_output_log_ _cleanup_(output_log_done)
