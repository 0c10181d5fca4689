/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-detach.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/exit-status.h"

static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define N_FORWARDED ARRAY_SIZE(forwarded)

static int block_forwarded(sigset_t *ret_before, struct fault *f)
{
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < N_FORWARDED; i++)
		(void)sigaddset(&set, forwarded[i]);
	return sigprocmask(SIG_BLOCK, &set, ret_before) < 0 ? fault_errno(f, errno, "block signals") : 0;
}

/*
 * Signals that only we receive are passed to the run. Before the child leaves our process group a Ctrl-C reaches
 * both; the second one only shortens the grace period.
 */
static void forward(int signal_fd, pid_t child)
{
	struct signalfd_siginfo si;

	while (read(signal_fd, &si, sizeof(si)) == sizeof(si))
		if (si.ssi_code != SI_KERNEL || getpgid(child) != getpgrp())
			(void)kill(child, (int)si.ssi_signo);
}

/* 1 and the id; 0: the child exited without one. */
static int read_id(int fd, int signal_fd, pid_t child, char id[SESSION_ID_SIZE], struct fault *f)
{
	for (size_t len = 0;;) {
		struct pollfd p[2] = { { .fd = fd, .events = POLLIN },
				       { .fd = signal_fd, .events = POLLIN } };
		ssize_t n;

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return fault_errno(f, errno, "wait for the session");
		if (p[1].revents & POLLIN)
			forward(signal_fd, child);
		if (!p[0].revents)
			continue;
		n = read(fd, id + len, SESSION_ID_SIZE - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? fault_errno(f, errno, "wait for the session") : 0;
		len += (size_t)n;
		if (len == SESSION_ID_SIZE - 1) {
			id[len] = '\0';
			return 1;
		}
	}
}

static int print_id(const struct run_options *o, const char *id, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	if (!o->json) {
		puts(id);
		return STATUS_OK;
	}
	d = jdoc_new_object();
	jdoc_set_int(d, "schema_version", 1);
	jdoc_set_string(d, "session", id);
	r = jdoc_write(d, JDOC_CANONICAL, &text, f);
	if (r < 0)
		return r;
	puts(text.text);
	return STATUS_OK;
}

/* It has reported its error itself. */
static int end_as(pid_t child, struct fault *f)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return fault_errno(f, errno, "wait for the supervisor");
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return fault_set(
		f, ESRCH,
		"the supervisor was killed by signal %d before the command ran; to clean up: custody recover",
		WTERMSIG(status));
}

static int wait_for(const struct run_options *o, int fd, pid_t child, struct fault *f)
{
	_cleanup_close_ int signal_fd = -EBADF;
	char id[SESSION_ID_SIZE];
	sigset_t set;
	int r;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < N_FORWARDED; i++)
		(void)sigaddset(&set, forwarded[i]);
	signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signal_fd < 0)
		return fault_errno(f, errno, "signalfd");
	r = read_id(fd, signal_fd, child, id, f);
	if (r < 0)
		return r;
	return r ? print_id(o, id, f) : end_as(child, f);
}

/*
 * A pipe of the caller that we held open would never reach end of file for its reader. Only descriptors that the run
 * needs are kept; none of our own is open yet.
 */
static int close_inherited(const struct run_options *o, int out, int null, struct fault *f)
{
	unsigned int next = STDERR_FILENO + 1;

	for (;;) {
		const int kept[] = { o->status_fd, out, null };
		unsigned int stop = ~0u;

		for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
			if (kept[i] >= (int)next && (unsigned int)kept[i] < stop)
				stop = (unsigned int)kept[i];
		if (stop > next && close_range(next, stop == ~0u ? ~0u : stop - 1, 0) < 0)
			return fault_errno(f, errno, "close the caller's descriptors");
		if (stop == ~0u)
			return 0;
		next = stop + 1;
	}
}

int run_detach(struct run_options *o, bool *ret_parent, struct fault *f)
{
	_cleanup_close_ int in = -EBADF, out = -EBADF, null = -EBADF;
	sigset_t before;
	pid_t child;
	int fd[2], r;

	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return fault_errno(f, errno, "open '/dev/null'");
	if (pipe2(fd, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "create a pipe");
	in = fd[0];
	out = fd[1];
	r = block_forwarded(&before, f);
	if (r < 0)
		return r;
	child = fork();
	if (child < 0)
		return fault_errno(f, errno, "fork");
	*ret_parent = child > 0;
	if (child > 0) {
		out = fd_close(out);
		return wait_for(o, in, child, f);
	}
	in = fd_close(in);
	r = close_inherited(o, out, null, f);
	if (r < 0)
		return r;
	if (sigprocmask(SIG_SETMASK, &before, NULL) < 0)
		return fault_errno(f, errno, "unblock signals");
	o->detach_fd = TAKE_FD(out);
	o->stdio[0] = o->stdio[1] = o->stdio[2] = TAKE_FD(null);
	return 0;
}

int run_detach_leave(const struct run_options *o, struct fault *f)
{
	if (o->detach_fd < 0)
		return 0;
	return setsid() < 0 ? fault_errno(f, errno, "leave the caller's session") : 0;
}

void run_detach_announce(const struct run_options *o, const char *id, int log)
{
	if (o->detach_fd < 0)
		return;
	/* A reader of the caller's output must see end of file when the caller exits, not when we do. */
	(void)dup3(o->stdio[0], STDIN_FILENO, 0);
	(void)dup3(o->stdio[0], STDOUT_FILENO, 0);
	/* Our own messages go to the log between the payload's output, as on a terminal. */
	(void)dup3(log, STDERR_FILENO, 0);
	/* If the caller has exited the session is listed by `custody sessions`. */
	(void)!write(o->detach_fd, id, strlen(id));
}
