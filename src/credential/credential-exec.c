/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit-status.h"
#include "base/fd.h"
#include "base/process-keeper.h"
#include "base/process.h"
#include "base/str.h"
#include "credential/credential-impl.h"

/* One call of a program. */
struct call {
	const char *path;
	pid_t pid; /* of its keeper */
	int pidfd, out;
	uint64_t deadline_ns;
};

/* The few variables that a program needs to find its own configuration; none of the caller's others. */
static char **make_environment(const char *name)
{
	static const char *const passed[] = { "HOME", "USER", "LOGNAME", "XDG_RUNTIME_DIR",
					      "DBUS_SESSION_BUS_ADDRESS" };
	_cleanup_strv_ char **env = NULL;
	int r = strv_append(&env, "PATH=/usr/local/bin:/usr/bin:/bin");

	if (r == 0)
		r = strv_append(&env, "LANG=C.UTF-8");
	if (r == 0)
		r = strv_appendf(&env, "CUSTODY_CREDENTIAL=%s", name);
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed) && r == 0; i++)
		if (getenv(passed[i]))
			r = strv_appendf(&env, "%s=%s", passed[i], getenv(passed[i]));
	return r < 0 ? NULL : TAKE_PTR(env);
}

static _Noreturn void become(const char *path, char **env, pid_t keeper)
{
	char *argv[] = { (char *)path, NULL };
	sigset_t none;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != keeper)
		_exit(STATUS_NOT_EXECUTABLE);
	(void)setsid();
	process_forbid_core();
	process_restore_signals();
	if (chdir("/") < 0)
		_exit(STATUS_NOT_EXECUTABLE);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)execve(path, argv, env);
	_exit(STATUS_NOT_FOUND);
}

/* Its stderr may quote the token: it goes nowhere. */
static _Noreturn void keep(const char *path, char **env, int out, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), status;
	const pid_t own = getpid();
	pid_t program;

	if (process_keeper_begin(parent) < 0 || null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(null, 2) < 0 || close_range(3, ~0U, 0) < 0)
		_exit(STATUS_NOT_EXECUTABLE);
	program = fork();
	if (program == 0)
		become(path, env, own);
	/* The output is the program's alone: its reader sees its end. */
	(void)close(1);
	status = program < 0 ? STATUS_NOT_EXECUTABLE : process_keeper_wait(program);
	process_keeper_end();
	_exit(status);
}

static int start(struct call *c, const char *name, struct fault *f)
{
	_cleanup_strv_ char **env = make_environment(name);
	_cleanup_close_ int in = -EBADF, out = -EBADF;
	const pid_t own = getpid();
	int ends[2];

	if (!env)
		return fault_errno(f, ENOMEM, "environment");
	if (pipe2(ends, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "pipe");
	in = ends[0];
	out = ends[1];
	c->pid = fork();
	if (c->pid < 0)
		return fault_errno(f, errno, "fork");
	if (c->pid == 0)
		keep(c->path, env, out, own);
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	c->out = TAKE_FD(in);
	return c->pidfd < 0 ? fault_errno(f, errno, "watch") : 0;
}

/* Everything that it started ends with it. */
static void finish(struct call *c)
{
	siginfo_t info;

	c->out = fd_close(c->out);
	c->pidfd = fd_close(c->pidfd);
	if (c->pid <= 0)
		return;
	(void)kill(c->pid, SIGTERM);
	while (waitid(P_PID, (id_t)c->pid, &info, WEXITED) < 0 && errno == EINTR)
		;
	c->pid = 0;
}

/* 1: more may come; 0: end. */
static int read_some(struct call *c, struct secret *s, struct fault *f)
{
	size_t left;
	char *room = secret_room(s, &left);
	ssize_t n = read(c->out, room, left);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 1;
	if (n < 0)
		return fault_errno(f, errno, "read its output");
	secret_grow(s, (size_t)n);
	if ((size_t)n == left)
		return fault_set(f, EMSGSIZE, "it printed more than %d bytes", CREDENTIAL_OUTPUT_MAX);
	return n > 0;
}

/* Until the program has ended: one that left its output open to others does not delay. */
static int collect(struct call *c, struct secret *s, struct fault *f)
{
	struct pollfd p[2] = { { .fd = c->out, .events = POLLIN }, { .fd = c->pidfd, .events = POLLIN } };
	int r = 1;

	while (r >= 0 && !(p[1].revents & POLLIN)) {
		uint64_t now = clock_boot_ns();

		if (now >= c->deadline_ns)
			return fault_set(f, ETIMEDOUT, "it did not end in time, and was killed");
		if (poll(p, 2, (int)((c->deadline_ns - now) / 1000000) + 1) < 0) {
			if (errno != EINTR)
				return fault_errno(f, errno, "poll");
			continue;
		}
		if (p[0].revents)
			r = read_some(c, s, f);
		if (r == 0)
			p[0].fd = -1; /* it closed its output */
	}
	/* Bytes in the pipe were written before the end. */
	while (r > 0 && poll(p, 1, 0) > 0)
		r = read_some(c, s, f);
	return r < 0 ? r : 0;
}

static int judge(const struct call *c, struct fault *f)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT) < 0)
		return fault_errno(f, errno, "wait");
	if (info.si_code == CLD_EXITED && info.si_status == 0)
		return 0;
	if (info.si_code == CLD_EXITED && info.si_status == STATUS_NOT_FOUND)
		return fault_set(f, ENOEXEC, "it cannot be executed, or ended with status %d",
				 STATUS_NOT_FOUND);
	if (info.si_code == CLD_EXITED && info.si_status <= STATUS_SIGNAL_BASE)
		return fault_set(f, EIO, "it ended with status %d", info.si_status);
	return fault_set(f, EIO, "it was killed by signal %d",
			 info.si_code == CLD_EXITED ? info.si_status - STATUS_SIGNAL_BASE : info.si_status);
}

int credential_exec(const char *path, const char *name, unsigned int timeout_ms, struct secret **ret,
		    struct fault *f)
{
	struct call c = { .path = path,
			  .pidfd = -EBADF,
			  .out = -EBADF,
			  .deadline_ns = clock_boot_ns() + (uint64_t)timeout_ms * 1000000 };
	_cleanup_secret_ struct secret *s = NULL;
	int r = secret_new(CREDENTIAL_OUTPUT_MAX + 1, &s, f);

	if (r == 0)
		r = secret_hide(s, f);
	if (r == 0)
		r = start(&c, name, f);
	if (r == 0)
		r = collect(&c, s, f);
	if (r == 0)
		r = judge(&c, f);
	finish(&c);
	if (r == 0)
		*ret = TAKE_PTR(s);
	return r;
}
