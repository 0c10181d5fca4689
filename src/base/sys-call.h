/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/syscall.h>

/*
 * System calls without a C library: negative errno instead of a variable. custody-init is linked with none; code that it
 * shares with other programs uses the same.
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
#error "custody knows the system call instruction of x86_64 and aarch64 only"
#endif

/* SYS(openat, ...): up to six arguments of any integer or pointer type. */
#define SYS_7(nr, a, b, c, d, e, f, ...) \
	sys_call(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define SYS(name, ...) SYS_7(__NR_##name, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
