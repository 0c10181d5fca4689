/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Before any header of the C library: its checked variants of memcpy and friends are not linked. */
#undef _FORTIFY_SOURCE

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "base/array.h"

/*
 * The parts of a C library that custody-init needs. It is started once per run, and in a virtual machine the
 * start-up code of glibc alone (dozens of cpuid instructions, each a trap) costs ten times what the whole
 * program does: so no library is linked, headers serve for types and constants only, and system calls return
 * negative errno.
 *
 * Files that only parse use nothing of this but the line builder, so that unit tests link them with a real
 * libc.
 */

#if defined(__x86_64__)
static inline long sys_call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
static inline long sys_call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#else
#error "custody-init knows the system call instruction of x86_64 and aarch64 only"
#endif

/* SYS(openat, ...): up to six arguments of any integer or pointer type. */
#define SYS_7(nr, a, b, c, d, e, f, ...) \
	sys_call(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define SYS(name, ...) SYS_7(__NR_##name, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)

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
