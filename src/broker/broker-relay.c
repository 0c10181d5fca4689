/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit-status.h"
#include "base/fd.h"
#include "base/process-keeper.h"
#include "base/str.h"
#include "broker/broker-process.h"
#include "credential/credential.h"
#include "credential/secret-find.h"

/*
 * The process between broker and program, for a program with credentials.  It waits for the values, starts the program with them, and
 * keeps the output until the program has ended, to search it for them: the broker gets neither a value nor an output with one.
 */
struct relay {
	const struct broker_program *p;
	struct secret *values[BROKER_CREDENTIALS_MAX];
	struct secret *variables[BROKER_CREDENTIALS_MAX]; /* "NAME=value"; NULL: by descriptor */
	int signals, out;
	pid_t program;
	int status;
	char *output;
	size_t len;
};

/* Nothing of the program is left.  It may end at any time: the broker does not wait for what it writes. */
static _Noreturn void end(struct relay *r, enum broker_verdict v, int status)
{
	const char verdict = (char)v;
	sigset_t all;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_UNBLOCK, &all, NULL);
	if (fd_write_all(1, &verdict, 1, NULL) == 0 && v == BROKER_VERDICT_OUTPUT)
		(void)!fd_write_all(1, r->output, r->len, NULL);
	if (r->output)
		explicit_bzero(r->output, r->p->output_max + 1);
	for (size_t i = 0; i < r->p->fds->n; i++) {
		secret_free(r->values[i]);
		secret_free(r->variables[i]);
	}
	_exit(status);
}

/* SIGTERM: the call is over. */
static bool is_told_to_end(const struct relay *r)
{
	struct signalfd_siginfo info;
	bool told = false;

	while (read(r->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		told |= info.ssi_signo == SIGTERM;
	return told;
}

static _Noreturn void give_up(void)
{
	process_keeper_end();
	_exit(STATUS_SIGNAL_BASE + SIGKILL);
}

static int receive(const struct relay *r, int fd, struct secret **ret)
{
	struct pollfd p[2] = { { .fd = r->signals, .events = POLLIN }, { .fd = fd, .events = POLLIN } };
	size_t left;
	char *room;
	ssize_t n;

	do {
		p[0].revents = p[1].revents = 0;
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (p[0].revents && is_told_to_end(r))
			give_up();
	} while (!p[1].revents);
	if (secret_new(CREDENTIAL_VALUE_MAX + 1, ret, NULL) < 0)
		return -ENOMEM;
	room = secret_room(*ret, &left);
	n = recv(fd, room, left, 0);
	if (n <= 0 || (size_t)n == left)
		return -ENOKEY;
	secret_grow(*ret, (size_t)n);
	return 0;
}

/* The NUL behind it ends the variable. */
static int make_variable(struct relay *r, size_t i)
{
	const char *name = r->p->credentials[i].variable;
	int e;

	if (!name)
		return 0;
	e = secret_new(strlen(name) + 1 + secret_len(r->values[i]), &r->variables[i], NULL);
	if (e == 0)
		e = secret_add(r->variables[i], name, strlen(name), NULL);
	if (e == 0)
		e = secret_add(r->variables[i], "=", 1, NULL);
	return e < 0 ? e
		     : secret_add(r->variables[i], secret_bytes(r->values[i]), secret_len(r->values[i]),
				  NULL);
}

static int receive_all(struct relay *r)
{
	int e = 0;

	for (size_t i = 0; e == 0 && i < r->p->fds->n; i++) {
		e = receive(r, r->p->fds->fd[i], &r->values[i]);
		(void)fd_close(r->p->fds->fd[i]);
		if (e == 0)
			e = make_variable(r, i);
	}
	return e;
}

/* Of a socket, whose buffer has room for every value: that of a pipe may be one page. */
static int offer_value(const struct relay *r, int *ret)
{
	int pair[2];

	*ret = -EBADF;
	for (size_t i = 0; i < r->p->fds->n; i++) {
		const struct secret *s = r->values[i];

		if (r->variables[i])
			continue;
		if (*ret >= 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
			return -EMFILE;
		*ret = pair[1];
		if (send(pair[0], secret_bytes(s), secret_len(s), MSG_DONTWAIT | MSG_NOSIGNAL) !=
		    (ssize_t)secret_len(s))
			return -EIO;
		(void)fd_close(pair[0]);
	}
	return 0;
}

static _Noreturn void become(const struct relay *r, int out, int value, pid_t parent)
{
	const size_t given = strv_len(r->p->env);
	char **env = calloc(given + BROKER_CREDENTIALS_MAX + 1, sizeof(*env));
	size_t n = given;

	if (!env)
		_exit(STATUS_NOT_EXECUTABLE);
	memcpy(env, r->p->env, given * sizeof(*env));
	for (size_t i = 0; i < r->p->fds->n; i++)
		if (r->variables[i])
			env[n++] = (char *)secret_bytes(r->variables[i]);
	if (dup2(out, 1) < 0 ||
	    (value >= 0 && value != BROKER_CREDENTIAL_FD && dup2(value, BROKER_CREDENTIAL_FD) < 0))
		_exit(STATUS_NOT_EXECUTABLE);
	if (value == BROKER_CREDENTIAL_FD && fcntl(value, F_SETFD, 0) < 0)
		_exit(STATUS_NOT_EXECUTABLE);
	if (close_range(value >= 0 ? BROKER_CREDENTIAL_FD + 1 : 3, ~0U, 0) < 0)
		_exit(STATUS_NOT_EXECUTABLE);
	broker_process_execute(r->p, env, parent);
}

static int start(struct relay *r)
{
	const pid_t own = getpid();
	_cleanup_close_ int value = -EBADF;
	int pair[2], e = offer_value(r, &value);

	if (e < 0)
		return e;
	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	r->program = fork();
	if (r->program == 0)
		become(r, pair[1], value, own);
	(void)fd_close(pair[1]);
	r->out = pair[0];
	/* The program's alone, so that its writer sees its end. */
	(void)fd_close(0);
	return r->program < 0 ? -errno : fcntl(r->out, F_SETFL, O_NONBLOCK);
}

/* 1: more may come; 0: the end; -EMSGSIZE. */
static int read_some(struct relay *r)
{
	while (r->out >= 0) {
		ssize_t n = read(r->out, r->output + r->len, r->p->output_max + 1 - r->len);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 1;
		if (n <= 0) {
			r->out = fd_close(r->out);
			return 0;
		}
		r->len += (size_t)n;
		if (r->len > r->p->output_max)
			return -EMSGSIZE;
	}
	return 0;
}

static bool has_ended(struct relay *r)
{
	bool ended = false;
	int status;
	pid_t pid;

	/* The others may end as fast as they begin: the call ends all the same. */
	while (!process_keeper_is_told() && (pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != r->program)
			continue;
		r->status = WIFSIGNALED(status) ? STATUS_SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
		ended = true;
	}
	return ended;
}

/* Until the program has ended, and nothing of it is left. */
static int collect(struct relay *r)
{
	int e = 1;

	for (;;) {
		struct pollfd p[2] = { { .fd = r->signals, .events = POLLIN },
				       { .fd = r->out, .events = POLLIN } };

		if (poll(p, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			e = -errno;
			break;
		}
		if (p[0].revents && is_told_to_end(r))
			give_up();
		if (p[1].revents)
			e = read_some(r);
		if (e < 0 || (p[0].revents && has_ended(r)))
			break;
	}
	process_keeper_end();
	return e < 0 ? e : read_some(r) < 0 ? -EMSGSIZE : 0;
}

static bool has_value(const struct relay *r)
{
	for (size_t i = 0; i < r->p->fds->n; i++) {
		bool found = true;

		if (secret_find(r->values[i], r->output, r->len, &found, NULL) < 0 || found)
			return true;
	}
	return false;
}

void broker_relay(const struct broker_program *p)
{
	struct relay r = { .p = p, .out = -EBADF };
	sigset_t set;
	bool found;
	int e;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGCHLD);
	r.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	r.output = malloc(p->output_max + 1);
	if (r.signals < 0 || !r.output || receive_all(&r) < 0)
		end(&r, BROKER_VERDICT_REFUSED, STATUS_OK);
	e = start(&r);
	if (e == 0)
		e = collect(&r);
	if (e == -EMSGSIZE)
		end(&r, BROKER_VERDICT_TOO_MUCH, STATUS_OK);
	if (e < 0)
		end(&r, BROKER_VERDICT_REFUSED, STATUS_NOT_EXECUTABLE);
	found = has_value(&r);
	if (r.status == 0 && found)
		end(&r, BROKER_VERDICT_FOUND, STATUS_OK);
	if (found || (r.status != 0 && !p->says_why))
		r.len = 0;
	end(&r, BROKER_VERDICT_OUTPUT, r.status);
}
