/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor/canary.h"

/*
 * System calls that the filter must stop.  The arguments are invalid on purpose: an unfiltered kernel checks them before
 * privileges, so it answers UNFILTERED with or without capabilities, and nothing happens.
 */
#define NOWHERE ((long)-1)

static int answer(long r, int unfiltered)
{
	if (r >= 0 || errno == unfiltered)
		return 0;
	return errno;
}

#define CALL(name, unfiltered, ...)                                            \
	static int call_##name(const struct canary_facts *f)                   \
	{                                                                      \
		(void)f;                                                       \
		return answer(syscall(SYS_##name, __VA_ARGS__), (unfiltered)); \
	}

CALL(mount, EFAULT, NOWHERE, NOWHERE, NOWHERE, 0, NOWHERE)
CALL(chroot, EFAULT, NOWHERE)
CALL(unshare, EINVAL, NOWHERE)
CALL(setns, EBADF, -1, 0)
CALL(keyctl, EOPNOTSUPP, -1)
CALL(add_key, EFAULT, NOWHERE, NOWHERE, NOWHERE, 0L, 0L)
CALL(request_key, EFAULT, NOWHERE, NOWHERE, NOWHERE, 0L)
CALL(io_uring_setup, EFAULT, 1, NOWHERE)
CALL(bpf, EFAULT, 0, NOWHERE, 64)
CALL(perf_event_open, EFAULT, NOWHERE, 0, -1, -1, 0)
CALL(userfaultfd, EINVAL, -1)
CALL(init_module, EFAULT, NOWHERE, 16L, NOWHERE)
CALL(finit_module, EBADF, -1, NOWHERE, 0)
CALL(open_by_handle_at, EFAULT, AT_FDCWD, NOWHERE, 0)
CALL(name_to_handle_at, EINVAL, -1, NOWHERE, NOWHERE, NOWHERE, -1)
CALL(process_vm_readv, EINVAL, 1, NOWHERE, 0L, NOWHERE, 0L, 1L)
CALL(syslog, EINVAL, -1, NOWHERE, 0)
CALL(settimeofday, EFAULT, NOWHERE, NOWHERE)
CALL(swapon, EFAULT, NOWHERE, 0)
CALL(sethostname, EINVAL, NOWHERE, -1)

/* Runs in the child of one try: its parent is the main loop of the canary. */
static int call_ptrace(const struct canary_facts *f)
{
	(void)f;
	return answer(ptrace(PTRACE_TRACEME, 0, NULL, NULL), 0);
}

static int call_clone(const struct canary_facts *f)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);

	(void)f;
	if (pid == 0)
		_exit(0);
	return answer(pid, ENOSPC);
}

static int call_clone3(const struct canary_facts *f)
{
	(void)f;
	return answer(syscall(SYS_clone3, NOWHERE, 0L), EINVAL);
}

/* Descriptor -1: the filter must refuse the request before the kernel checks the descriptor. */
static int call_tiocsti(const struct canary_facts *f)
{
	(void)f;
	return answer(ioctl(-1, TIOCSTI, NULL), EBADF);
}

static int try_family(int family, int type)
{
	int fd = socket(family, type | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		close(fd);
	return answer(fd, 0);
}

static int call_af_alg(const struct canary_facts *f)
{
	(void)f;
	return try_family(AF_ALG, SOCK_SEQPACKET);
}

static int call_af_vsock(const struct canary_facts *f)
{
	(void)f;
	return try_family(AF_VSOCK, SOCK_STREAM);
}

#ifdef __x86_64__
static int call_x32(const struct canary_facts *f)
{
	(void)f;
	return answer(syscall(0x40000000L | SYS_getpid), 0);
}

/* int $0x80 uses the i386 system call table, in which 20 is getpid. */
static int call_i386(const struct canary_facts *f)
{
	long r;

	(void)f;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
	return r > 0 ? 0 : (int)-r;
}
#endif

/* clang-format off */
#define SECCOMP(name) { #name, LAYER_SECCOMP, call_##name }
const struct canary_try canary_calls[] = {
	SECCOMP(mount), SECCOMP(chroot), SECCOMP(unshare), SECCOMP(setns), SECCOMP(clone), SECCOMP(clone3),
	SECCOMP(ptrace), SECCOMP(process_vm_readv), SECCOMP(keyctl), SECCOMP(add_key), SECCOMP(request_key),
	SECCOMP(io_uring_setup), SECCOMP(bpf), SECCOMP(perf_event_open), SECCOMP(userfaultfd),
	SECCOMP(init_module), SECCOMP(finit_module), SECCOMP(open_by_handle_at), SECCOMP(name_to_handle_at),
	SECCOMP(syslog), SECCOMP(settimeofday), SECCOMP(swapon), SECCOMP(sethostname),
	{ "ioctl TIOCSTI", LAYER_SECCOMP, call_tiocsti },
	{ "socket AF_ALG", LAYER_SECCOMP, call_af_alg },
	{ "socket AF_VSOCK", LAYER_SECCOMP, call_af_vsock },
#ifdef __x86_64__
	{ "x32 system call", LAYER_SECCOMP, call_x32 },
	{ "i386 system call", LAYER_SECCOMP, call_i386 },
#endif
	{ 0 },
};
/* clang-format on */
