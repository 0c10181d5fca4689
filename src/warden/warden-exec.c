/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "session/exec-socket.h"
#include "session/exit-reason.h"
#include "warden/warden-state.h"

/*
 * Further commands in a running session (docs/design/exec.md).  `custody exec` decides, records and supervises its command
 * itself; this process describes the session to it, passes its descriptors to init, and keeps the session's own chain.
 * No call here waits for a client.
 */

void warden_exec_init(struct warden *w)
{
	for (size_t i = 0; i < WARDEN_EXECS; i++)
		w->clients[i].fd = -EBADF;
}

void warden_exec_poll(const struct warden *w, struct pollfd *polled)
{
	polled[0] = (struct pollfd){ .fd = w->job->exec ? w->job->exec->fd : -1, .events = POLLIN };
	for (size_t i = 0; i < WARDEN_EXECS; i++)
		polled[i + 1] = (struct pollfd){ .fd = w->clients[i].fd, .events = POLLIN };
}

static void record(const struct warden *w, const struct warden_client *c, enum exec_msg_type type,
		   const char *reason)
{
	struct exec_msg m = { .type = type, .code = STATUS_FAILED };

	memcpy(m.id, c->id, sizeof(m.id));
	(void)snprintf(m.text, sizeof(m.text), "%s", reason);
	w->job->exec->record(w->job->exec->arg, &m);
}

/* REASON: of a command that began and did not report its end. */
static void leave(const struct warden *w, struct warden_client *c, const char *reason)
{
	if (c->began)
		record(w, c, EXEC_MSG_ENDED, reason);
	*c = (struct warden_client){ .fd = fd_close(c->fd) };
}

static void refuse(struct warden_client *c, const char *why)
{
	struct exec_msg m = { 0 };

	(void)snprintf(m.text, sizeof(m.text), "%s", why);
	(void)!exec_msg_send(c->fd, &m, EXEC_MSG_REFUSED, NULL, 0);
}

/* Why no command can be started now; NULL: it can. */
static const char *find_obstacle(const struct warden *w)
{
	if (w->phase < WARDEN_RUNNING)
		return "the session is being started: retry";
	if (w->phase > WARDEN_RUNNING || w->init_fd < 0 || w->facts.reported || w->facts.exec_failed)
		return "the session is ending";
	if (w->facts.stopped || w->facts.cancelled || w->facts.timed_out || w->facts.disk_exceeded)
		return "the session is being stopped";
	return NULL;
}

/* A file with the description, for one client. */
static int describe(const struct warden *w, struct fault *f)
{
	const struct warden_exec_job *e = w->job->exec;
	_cleanup_strbuf_ struct strbuf text = { 0 };
	_cleanup_close_ int fd = -EBADF;
	int r = e->describe(e->arg, w->init, w->init_ns, w->limits, &text, f);

	if (r < 0)
		return r;
	fd = memfd_create("session", MFD_CLOEXEC);
	if (fd < 0 || text.broken)
		return fault_errno(f, fd < 0 ? errno : ENOMEM, "describe the session");
	r = fd_write_all(fd, text.text, text.len, f);
	return r < 0 ? r : TAKE_FD(fd);
}

static void on_hello(const struct warden *w, struct warden_client *c)
{
	_cleanup_fault_ struct fault f = { 0 };
	const char *obstacle = find_obstacle(w);
	_cleanup_close_ int fd = obstacle ? -EBADF : describe(w, &f);
	struct exec_msg m = { 0 };

	if (fd < 0)
		refuse(c, obstacle ? obstacle : fault_text(&f));
	else
		(void)!exec_msg_send(c->fd, &m, EXEC_MSG_SESSION, &fd, 1);
}

/* To init, which reads it when it is scheduled: a frozen container takes it later. */
static int pass_on(const struct warden *w, const int fds[INIT_EXEC_FDS])
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(INIT_EXEC_FDS * sizeof(int))];
	} control = { 0 };
	struct init_msg m = { .magic = INIT_PROTO_MAGIC, .type = INIT_MSG_EXEC };
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr h = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(INIT_EXEC_FDS * sizeof(int)),
			       .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(c), fds, INIT_EXEC_FDS * sizeof(int));
	return sendmsg(w->init_fd, &h, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(m) ? 0 : -errno;
}

static void on_start(const struct warden *w, struct warden_client *c, const struct exec_msg *m,
		     const int *fds, size_t n)
{
	const char *obstacle = find_obstacle(w);

	if (obstacle)
		refuse(c, obstacle);
	else if (n != INIT_EXEC_FDS || c->began)
		refuse(c, "malformed request");
	else if (pass_on(w, fds) < 0)
		refuse(c, "the session's first process does not take requests now: retry");
	else
		memcpy(c->id, m->id, sizeof(c->id));
}

static void on_message(const struct warden *w, struct warden_client *c, const struct exec_msg *m,
		       const int *fds, size_t n)
{
	switch (m->type) {
	case EXEC_MSG_HELLO:
		on_hello(w, c);
		break;
	case EXEC_MSG_START:
		on_start(w, c, m, fds, n);
		break;
	case EXEC_MSG_STARTED:
	case EXEC_MSG_ENDED:
		if (strcmp(m->id, c->id) != 0 || (m->type == EXEC_MSG_ENDED && !c->began))
			break;
		c->began = m->type == EXEC_MSG_STARTED;
		w->job->exec->record(w->job->exec->arg, m);
		break;
	default:
		refuse(c, "unknown request");
	}
}

static void read_client(const struct warden *w, struct warden_client *c)
{
	int fds[INIT_EXEC_FDS];
	struct exec_msg m = { 0 };
	size_t n;
	int r = exec_msg_receive(c->fd, &m, fds, &n);

	if (r == -EAGAIN)
		return;
	if (r == -EPROTO)
		refuse(c, "the session was started by another version of custody: use that version");
	if (r <= 0) {
		leave(w, c, exit_reason_name(EXIT_REASON_LOST));
		return;
	}
	on_message(w, c, &m, fds, n);
	for (size_t i = 0; i < n; i++)
		(void)fd_close(fds[i]);
}

/* More clients than places: the new one is closed, and says so. */
static void accept_client(struct warden *w)
{
	int fd = exec_socket_accept(w->job->exec->fd);
	struct warden_client *c = w->clients, extra = { .fd = fd };

	if (fd < 0)
		return;
	while (c < w->clients + WARDEN_EXECS && c->fd >= 0)
		c++;
	if (c < w->clients + WARDEN_EXECS) {
		*c = (struct warden_client){ .fd = fd };
		return;
	}
	refuse(&extra, "too many commands of 'custody exec' are running in the session: retry later");
	(void)fd_close(fd);
}

void warden_exec_step(struct warden *w, const struct pollfd *polled)
{
	for (size_t i = 0; i < WARDEN_EXECS; i++)
		if (w->clients[i].fd >= 0 && polled[i + 1].fd == w->clients[i].fd && polled[i + 1].revents)
			read_client(w, &w->clients[i]);
	if (w->job->exec && polled[0].revents)
		accept_client(w);
}

void warden_exec_over(struct warden *w)
{
	struct exec_msg m = { 0 };

	for (size_t i = 0; i < WARDEN_EXECS; i++) {
		struct warden_client *c = &w->clients[i];

		/* An end that is reported already counts. */
		for (int fd = c->fd; c->fd >= 0 && c->began;) {
			struct pollfd p = { .fd = fd, .events = POLLIN };

			if (poll(&p, 1, 0) <= 0)
				break;
			read_client(w, c);
		}
		if (c->fd < 0)
			continue;
		(void)!exec_msg_send(c->fd, &m, EXEC_MSG_OVER, NULL, 0);
		leave(w, c, exit_reason_name(EXIT_REASON_SIGNALED));
	}
}
