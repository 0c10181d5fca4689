/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tty/prompt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/fd.h"

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define N_ENDING ARRAY_SIZE(ending)

_Static_assert(N_ENDING == sizeof(((struct prompt *)0)->actions) / sizeof(struct sigaction),
	       "one action each");

static int open_terminal(struct prompt *p, struct fault *f)
{
	struct termios modes;

	p->fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (p->fd < 0)
		return fault_set(f, ENXIO, "cannot ask: no terminal");
	/*
	 * A read would stop this process (SIGTTIN) until it is moved to the foreground, and the question
	 * would stay unseen.
	 */
	if (tcgetpgrp(p->fd) != getpgrp())
		return fault_set(f, EBUSY, "cannot ask on the terminal: this process is in the background");
	if (tcgetattr(p->fd, &modes) < 0)
		return fault_errno(f, errno, "modes of the terminal");
	if (!(modes.c_lflag & ICANON))
		return fault_set(f, EBUSY,
				 "another program has the terminal in raw mode and reads the keys (if not: "
				 "run 'stty sane')");
	return 0;
}

/*
 * Blocked and with their default action: a signal that an earlier program ignored would not reach the
 * descriptor.  SIGTTIN and SIGTTOU are only blocked: a process that moves to the background now gets EIO
 * instead of being stopped.
 */
static int take_signals(struct prompt *p, struct fault *f)
{
	const struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t wanted, blocked;

	(void)sigemptyset(&wanted);
	for (size_t i = 0; i < N_ENDING; i++)
		(void)sigaddset(&wanted, ending[i]);
	blocked = wanted;
	(void)sigaddset(&blocked, SIGTSTP);
	(void)sigaddset(&blocked, SIGTTIN);
	(void)sigaddset(&blocked, SIGTTOU);
	(void)sigaddset(&blocked, SIGPIPE);
	if (sigprocmask(SIG_BLOCK, &blocked, &p->before) < 0)
		return fault_errno(f, errno, "signals");
	for (size_t i = 0; i < N_ENDING; i++)
		(void)sigaction(ending[i], &plain, &p->actions[i]);
	p->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	if (p->signals < 0) {
		int code = errno;

		for (size_t i = 0; i < N_ENDING; i++)
			(void)sigaction(ending[i], &p->actions[i], NULL);
		(void)sigprocmask(SIG_SETMASK, &p->before, NULL);
		return fault_errno(f, code, "signals");
	}
	return 0;
}

int prompt_open(struct prompt *p, struct fault *f)
{
	int r = open_terminal(p, f);

	if (r == 0)
		r = take_signals(p, f);
	if (r == 0)
		r = terminal_hold(&p->held, p->fd, f);
	if (r < 0)
		prompt_close(p);
	return r;
}

/* Ctrl-Z was blocked so that a stopped prompt does not leave the terminal without echo; discard it now. */
static void drop_stops(void)
{
	const struct timespec now = { 0 };
	sigset_t stops;

	(void)sigemptyset(&stops);
	(void)sigaddset(&stops, SIGTSTP);
	(void)sigaddset(&stops, SIGTTIN);
	(void)sigaddset(&stops, SIGTTOU);
	while (sigtimedwait(&stops, NULL, &now) > 0)
		;
}

void prompt_close(struct prompt *p)
{
	terminal_restore(&p->held);
	p->fd = fd_close(p->fd);
	if (p->signals < 0)
		return;
	p->signals = fd_close(p->signals);
	drop_stops();
	for (size_t i = 0; i < N_ENDING; i++)
		(void)sigaction(ending[i], &p->actions[i], NULL);
	(void)sigprocmask(SIG_SETMASK, &p->before, NULL);
}

int prompt_show(struct prompt *p, const char *text, struct fault *f)
{
	int r = fd_write_all(p->fd, text, strlen(text), f);

	return r < 0 ? fault_wrap(f, r, "terminal") : 0;
}

/* Canonical mode with or without echo, whatever the modes were; Ctrl-Z is disabled. */
static int set_modes(const struct prompt *p, bool echo, struct fault *f)
{
	struct termios t = p->held.saved;

	t.c_iflag |= ICRNL;
	t.c_iflag &= ~(tcflag_t)(IGNCR | INLCR | ISTRIP);
	t.c_oflag |= OPOST | ONLCR;
	t.c_lflag |= ICANON | ISIG | ECHOE | ECHOK | ECHONL;
	t.c_lflag &= ~(tcflag_t)(ECHO | NOFLSH);
	if (echo)
		t.c_lflag |= ECHO;
	t.c_cc[VSUSP] = _POSIX_VDISABLE;
	/* Waits until all output is written, then discards earlier input. */
	if (tcsetattr(p->fd, TCSAFLUSH, &t) < 0)
		return fault_errno(f, errno, "modes of the terminal");
	return 0;
}

static int wait_line(struct prompt *p, unsigned int timeout_s, struct fault *f)
{
	const uint64_t end = clock_boot_ns() + (uint64_t)timeout_s * 1000000000U;
	struct pollfd fds[] = { { .fd = p->fd, .events = POLLIN }, { .fd = p->signals, .events = POLLIN } };
	struct signalfd_siginfo info;

	for (;;) {
		uint64_t now = clock_boot_ns();
		int ms = timeout_s == 0 ? -1 : now >= end ? 0 : (int)((end - now) / 1000000U) + 1;
		int n = poll(fds, 2, ms);

		if (n < 0 && errno != EINTR)
			return fault_errno(f, errno, "terminal");
		if (n > 0 && fds[1].revents && read(p->signals, &info, sizeof(info)) == sizeof(info)) {
			p->signal = (int)info.ssi_signo;
			return fault_set(f, ECANCELED, "interrupted");
		}
		if (n > 0 && fds[0].revents)
			return 0;
		if (n == 0)
			return fault_set(f, ETIMEDOUT, "no answer within %u seconds", timeout_s);
	}
}

int prompt_ask(struct prompt *p, const char *question, bool echo, unsigned int timeout_s, char *ret,
	       size_t size, struct fault *f)
{
	char line[PROMPT_LINE_MAX + 1];
	ssize_t n;
	int r;

	p->signal = 0;
	r = set_modes(p, echo, f);
	if (r == 0)
		r = prompt_show(p, question, f);
	if (r == 0)
		r = wait_line(p, timeout_s, f);
	if (r < 0)
		return r;
	n = read(p->fd, line, sizeof(line));
	if (n <= 0 || line[n - 1] != '\n') {
		explicit_bzero(line, sizeof(line));
		if (n < 0)
			return fault_errno(f, errno == EIO ? ECANCELED : errno, "terminal");
		return n == (ssize_t)sizeof(line) ? fault_set(f, EMSGSIZE, "the answer is too long")
						  : fault_set(f, ECANCELED, "end of input");
	}
	line[--n] = '\0';
	if ((size_t)n >= size || memchr(line, '\0', (size_t)n)) {
		explicit_bzero(line, sizeof(line));
		return fault_set(f, EMSGSIZE, "the answer is too long");
	}
	memcpy(ret, line, (size_t)n + 1);
	explicit_bzero(line, sizeof(line));
	return 0;
}
