/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/broker-process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit-status.h"
#include "base/fd.h"
#include "base/process-keeper.h"
#include "base/process.h"

_Noreturn void broker_process_execute(const struct broker_program *p, char *const *env, pid_t parent)
{
	sigset_t all;

	process_restore_signals();
	(void)sigemptyset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(STATUS_NOT_EXECUTABLE);
	(void)setsid();
	process_forbid_core();
	if (chdir("/") < 0)
		_exit(STATUS_NOT_EXECUTABLE);
	if (p->work)
		_exit(p->work(p->arg));
	(void)execve(p->path, p->argv, env);
	_exit(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
}

/* Stdio, the values' descriptors from 3 on, and nothing else. */
static int keep_descriptors(struct broker_credential_fds *v, int in, int out, int null)
{
	for (size_t i = 0; i < v->n; i++) {
		v->fd[i] = fcntl(v->fd[i], F_DUPFD_CLOEXEC, 3 + BROKER_CREDENTIALS_MAX + 1);
		if (v->fd[i] < 0)
			return -errno;
	}
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(null, 2) < 0)
		return -errno;
	for (size_t i = 0; i < v->n; i++) {
		if (dup3(v->fd[i], 3 + (int)i, O_CLOEXEC) < 0)
			return -errno;
		v->fd[i] = 3 + (int)i;
	}
	return close_range(3 + (unsigned int)v->n, ~0U, 0);
}

static _Noreturn void stay(const struct broker_program *given, int in, int out, pid_t broker)
{
	struct broker_credential_fds fds = given->fds ? *given->fds : (struct broker_credential_fds){ 0 };
	struct broker_program p = *given;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), status;
	const pid_t own = getpid();
	pid_t program;

	if (null < 0 || process_keeper_begin(broker) < 0 || keep_descriptors(&fds, in, out, null) < 0)
		_exit(STATUS_NOT_EXECUTABLE);
	p.fds = &fds;
	if (fds.n)
		broker_relay(&p);
	program = fork();
	if (program == 0)
		broker_process_execute(&p, p.env, own);
	/* The pipes are the program's alone: their other ends see its end. */
	(void)close_range(0, 1, 0);
	status = program < 0 ? STATUS_NOT_EXECUTABLE : process_keeper_wait(program);
	process_keeper_end();
	_exit(status);
}

static int set_nonblocking(int fd)
{
	return fcntl(fd, F_SETFL, O_NONBLOCK);
}

int broker_process_start(const struct broker_program *program, struct broker_process *ret, struct fault *f)
{
	_cleanup_close_ int in = -EBADF, in_tool = -EBADF, out = -EBADF, out_tool = -EBADF;
	const pid_t own = getpid();
	int fd[2];
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "pipe of a tool");
	in_tool = fd[0];
	in = fd[1];
	if (pipe2(fd, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "pipe of a tool");
	out = fd[0];
	out_tool = fd[1];
	if (set_nonblocking(in) < 0 || set_nonblocking(out) < 0)
		return fault_errno(f, errno, "pipe of a tool");
	pid = fork();
	if (pid == 0)
		stay(program, in_tool, out_tool, own);
	if (pid < 0)
		return fault_errno(f, errno, "start a tool");
	*ret = (struct broker_process){ .pid = pid,
					.pidfd = (int)syscall(SYS_pidfd_open, pid, 0),
					.in = TAKE_FD(in),
					.out = TAKE_FD(out),
					.judged = program->fds && program->fds->n };
	if (ret->pidfd >= 0)
		return 0;
	broker_process_kill(ret);
	(void)broker_process_reap(ret);
	return fault_errno(f, EMFILE, "watch a tool");
}

int broker_process_start_work(int (*work)(void *arg), void *arg, struct broker_process *ret, struct fault *f)
{
	return broker_process_start(&(struct broker_program){ .work = work, .arg = arg }, ret, f);
}

void broker_process_kill(const struct broker_process *p)
{
	if (p->pid > 0)
		(void)kill(p->pid, SIGTERM);
}

int broker_process_reap(struct broker_process *p)
{
	int status = 0;

	while (p->pid > 0 && waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	(void)fd_close(p->pidfd);
	(void)fd_close(p->in);
	(void)fd_close(p->out);
	*p = BROKER_PROCESS_NONE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_SIGNAL_BASE + WTERMSIG(status);
}
