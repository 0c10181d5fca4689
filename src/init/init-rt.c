/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-rt.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/exit-status.h"

/*
 * Entry. The kernel leaves argc, argv, envp and the auxiliary vector on the stack; no return address is set
 * up and the stack is not aligned.
 */
#if defined(__x86_64__)
__asm__(".globl _start\n"
	"_start:\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, %rdi\n"
	"	and $-16, %rsp\n"
	"	call rt_start\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n"
	"_start:\n"
	"	mov x29, #0\n"
	"	mov x30, #0\n"
	"	mov x0, sp\n"
	"	b rt_start\n");
#endif

/* The compiler's stack protector references these two by name. */
extern uintptr_t __stack_chk_guard;
uintptr_t __stack_chk_guard;
_Noreturn void __stack_chk_fail(void);
_Noreturn void rt_start(uintptr_t *stack);

/* No stack protector: this function sets the guard that its own frame would be checked against. */
__attribute__((no_stack_protector, used)) void rt_start(uintptr_t *stack)
{
	int argc = (int)stack[0];
	char **argv = (char **)(stack + 1);
	char **envp = argv + argc + 1;
	uintptr_t *aux = (uintptr_t *)envp;

	while (*aux++)
		;
	for (; aux[0] != AT_NULL; aux += 2)
		if (aux[0] == AT_RANDOM)
			memcpy(&__stack_chk_guard, (const void *)aux[1], sizeof(__stack_chk_guard));
	rt_exit(init_main(argc, argv, envp));
}

void __stack_chk_fail(void)
{
	rt_print("internal error: stack overwritten");
	rt_exit(STATUS_FAILED);
}

void rt_exit(int status)
{
	for (;;)
		SYS(exit_group, status);
}

void rt_print(const char *text)
{
	char buffer[512];
	struct line l = LINE(buffer);

	line_put(&l, "custody-init: ");
	line_put(&l, text);
	if (l.len == sizeof(buffer) - 1)
		l.len--;
	buffer[l.len++] = '\n';
	(void)SYS(write, 2, buffer, l.len);
}

long rt_read_file(const char *path, char *buffer, size_t room)
{
	size_t len = 0;
	long fd, n;

	fd = SYS(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	do {
		n = SYS(read, fd, buffer + len, room - len);
		if (n > 0)
			len += (size_t)n;
	} while (n > 0 && len < room);
	(void)SYS(close, fd);
	if (n < 0)
		return n;
	if (len == room)
		return -EFBIG;
	buffer[len] = '\0';
	return (long)len;
}

long rt_default_signal(int sig)
{
	/* The kernel's layout: glibc's differs. */
	struct {
		void (*handler)(int);
		unsigned long flags;
#if defined(__x86_64__)
		void (*restorer)(void);
#endif
		uint64_t mask;
	} action = { 0 };

	return SYS(rt_sigaction, sig, &action, NULL, sizeof(action.mask));
}

/*
 * The compiler calls these four for assignments and comparisons, and must not turn their loops into calls of
 * themselves: hence the barrier.
 */
#define NOT_A_LIBRARY_CALL __asm__ volatile("" ::: "memory")

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		((char *)to)[i] = ((const char *)from)[i];
		NOT_A_LIBRARY_CALL;
	}
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *s = from;

	if (t <= s)
		return memcpy(to, from, n);
	while (n--) {
		t[n] = s[n];
		NOT_A_LIBRARY_CALL;
	}
	return to;
}

void *memset(void *to, int c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		((char *)to)[i] = (char)c;
		NOT_A_LIBRARY_CALL;
	}
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n]) {
		n++;
		NOT_A_LIBRARY_CALL;
	}
	return n;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (unsigned char)*a - (unsigned char)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	while (n && *a && *a == *b)
		a++, b++, n--;
	return n ? (unsigned char)*a - (unsigned char)*b : 0;
}

/* A macro in glibc 2.43. */
char *(strchr)(const char *s, int c)
{
	while (*s && *s != (char)c)
		s++;
	return *s == (char)c ? (char *)(uintptr_t)s : NULL;
}
