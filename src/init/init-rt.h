/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Before any header of the C library: its checked variants of memcpy and friends are not linked. */
#undef _FORTIFY_SOURCE

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/sys-call.h"

/*
 * The parts of a C library that custody-init needs. It is started once per run, and in a virtual machine the
 * start-up code of glibc alone (dozens of cpuid instructions, each a trap) costs ten times what the whole
 * program does: so no library is linked, headers serve for types and constants only, and system calls return
 * negative errno.
 *
 * Files that only parse use nothing of this but the line builder, so that unit tests link them with a real
 * libc.
 */

/* Text of bounded length, truncated if it does not fit. Always NUL-terminated. */
struct line {
	char *text;
	size_t len, room;
};

#define LINE(buffer)                                     \
	{                                                \
		.text = (buffer), .room = sizeof(buffer) \
	}
void line_put(struct line *l, const char *text);
void line_put_bytes(struct line *l, const char *text, size_t len);
void line_put_num(struct line *l, long long value);
void line_put_hex(struct line *l, uint64_t value); /* 16 digits, as in /proc/PID/status */
void line_put_errno(struct line *l, int err);	   /* "EPERM", or the number */

/* Whole file into BUFFER, NUL-terminated. Length, or negative errno; -EFBIG if it does not fit. */
long rt_read_file(const char *path, char *buffer, size_t room);

/* Back to SIG_DFL.  0 or negative errno. */
long rt_default_signal(int sig);

/* "custody-init: TEXT\n" on stderr, in one write. */
void rt_print(const char *text);
_Noreturn void rt_exit(int status);

/* Arguments that the kernel passes to a new process. */
int init_main(int argc, char **argv, char **envp);
