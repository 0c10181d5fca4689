/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/exit-status.h"
#include "base/fd.h"
#include "base/process.h"
#include "trace/trace-memory.h"
#include "trace/trace-repeat.h"
#include "trace/trace.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS /* Linux 6.6 */
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#define SYNC_WAKE_UP 1ul

#define DENIED_MAX 256
#define ADDRESS_MAX 128 /* of a socket */
#define TRACE_PLACE_MAX 1024

/*
 * The observer.  Rules:
 *
 * 1. It MUST NOT let a call continue that is not a row of trace_calls: refused calls have no other guard than this answer.
 * 2. Nothing that it reads from a command's memory decides anything.
 * 3. ENOENT of the kernel means that the caller died, or that a signal or the freezer interrupted the call, which then comes
 *    again: it is counted and nothing else.
 * 4. It never waits for the supervisor while calls wait for it: a message that cannot be sent is counted as lost.
 */
struct server {
	uint32_t words;
	int listener, link;
	struct seccomp_notif *asked;
	struct seccomp_notif_resp *answer;
	size_t asked_size, answer_size;
	struct trace_totals totals;
	struct trace_repeats repeats;
	struct {
		int32_t nr, err;
		uint64_t count, sent;
	} denied[DENIED_MAX];
	size_t n_denied;
	struct trace_texts texts;
	char out[TRACE_MESSAGE_MAX];
};

static bool send_message(struct server *s, const struct trace_head *h, const char *texts, size_t len,
			 int flags)
{
	memcpy(s->out, h, sizeof(*h));
	memcpy(s->out + sizeof(*h), texts, len);
	return send(s->link, s->out, sizeof(*h) + len, MSG_NOSIGNAL | flags) > 0;
}

static pid_t inner_pid(pid_t pid)
{
	char path[32], text[4096];
	_cleanup_close_ int fd = -EBADF;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return trace_inner_pid(text);
}

/* The argument that is the whole structure of openat2; one that cannot be read may have any flags. */
static bool writes(const struct server *s, const struct trace_call *call, bool *ret_known)
{
	struct open_how how = { 0 };

	*ret_known = true;
	if (call->nr != SYS_openat2)
		return true;
	*ret_known = trace_memory_copy((pid_t)s->asked->pid, s->asked->data.args[2], &how, sizeof(how));
	return !*ret_known || (how.flags & trace_write_flags);
}

/* What a path that is not absolute begins at; of an empty one it is the file itself. */
static void read_place(struct server *s, const struct trace_call *call)
{
	const int dir = call->dir < 0 ? AT_FDCWD : (int)s->asked->data.args[call->dir];
	char link[48], place[TRACE_PLACE_MAX];
	ssize_t n;

	if (dir == AT_FDCWD)
		(void)snprintf(link, sizeof(link), "/proc/%d/cwd", (int)s->asked->pid);
	else
		(void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)s->asked->pid, dir);
	n = s->texts.bytes[0] == '/' ? 0 : readlink(link, place, sizeof(place) - 1);
	place[n > 0 ? n : 0] = '\0';
	/* The rest of a name that is cut could be the half of a secret. */
	trace_texts_put(&s->texts, n == sizeof(place) - 1 ? "" : place);
}

static void read_address(struct server *s)
{
	const __u64 *args = s->asked->data.args;
	const size_t len = (uint32_t)args[2] < ADDRESS_MAX ? (uint32_t)args[2] : ADDRESS_MAX;
	char bytes[ADDRESS_MAX], text[TRACE_ADDRESS_SIZE];

	if (!trace_memory_copy((pid_t)s->asked->pid, args[1], bytes, len)) {
		s->texts.flags |= TRACE_UNREADABLE;
		return;
	}
	trace_address_text(bytes, len, text);
	trace_texts_put(&s->texts, text);
}

static void read_texts(struct server *s, const struct trace_call *call)
{
	const pid_t pid = (pid_t)s->asked->pid;
	const __u64 *args = s->asked->data.args;

	s->texts.len = s->texts.n = s->texts.flags = 0;
	if (call->word == TRACE_CONNECT) {
		read_address(s);
		return;
	}
	trace_texts_add(&s->texts, pid, args[call->path], TRACE_PATH_MAX);
	read_place(s, call);
	if (call->word == TRACE_EXEC)
		trace_texts_add_list(&s->texts, pid, args[call->path + 1]);
}

/* Of a place that another call takes, or at the end. */
static void send_repeat(struct server *s, const struct trace_repeat *r, int flags)
{
	const struct trace_head h = {
		.kind = TRACE_KIND_REPEAT, .nr = r->nr, .texts = r->n, .count = r->count
	};

	if (r->count == 0)
		return;
	if (send_message(s, &h, r->bytes, r->len, flags))
		s->totals.repeated += r->count;
	else
		s->totals.lost += r->count;
}

static void report(struct server *s, int32_t nr, pid_t pid)
{
	const struct trace_head h = { .kind = TRACE_KIND_CALL,
				      .nr = nr,
				      .pid = pid,
				      .flags = s->texts.flags,
				      .texts = s->texts.n,
				      .count = 1 };
	struct trace_repeat before;
	bool counted;

	s->totals.seen++;
	s->totals.unreadable += s->texts.flags & TRACE_UNREADABLE ? 1 : 0;
	counted = trace_repeat_count(&s->repeats, nr, &s->texts, &before);
	send_repeat(s, &before, MSG_DONTWAIT);
	if (!counted && !send_message(s, &h, s->texts.bytes, s->texts.len, MSG_DONTWAIT))
		s->totals.lost++;
}

/* custody-init tries a forbidden call before each command, with an argument that does nothing. */
static bool is_own_try(const struct seccomp_data *d)
{
	return d->nr == SYS_keyctl && d->args[0] == (uint64_t)-1;
}

/* The first one, and whenever their number has doubled: the last message has all of them. */
static void report_denied(struct server *s, const struct seccomp_data *d, int err)
{
	struct trace_head h = { .kind = TRACE_KIND_DENIED, .nr = d->nr, .err = err };
	size_t i = 0;

	if (is_own_try(d))
		return;
	s->totals.denied++;
	while (i < s->n_denied && (s->denied[i].nr != d->nr || s->denied[i].err != err))
		i++;
	if (i == DENIED_MAX) {
		s->totals.lost++;
		return;
	}
	s->denied[i].nr = d->nr;
	s->denied[i].err = err;
	s->n_denied += i == s->n_denied;
	h.count = ++s->denied[i].count;
	if (h.count < 2 * s->denied[i].sent)
		return;
	h.pid = inner_pid((pid_t)s->asked->pid);
	if (send_message(s, &h, "", 0, MSG_DONTWAIT))
		s->denied[i].sent = h.count;
}

/* False: the caller is gone, or its call comes again. */
static bool answer(struct server *s, int err)
{
	memset(s->answer, 0, s->answer_size);
	s->answer->id = s->asked->id;
	s->answer->error = -err;
	s->answer->flags = err == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
	return ioctl(s->listener, SECCOMP_IOCTL_NOTIF_SEND, s->answer) == 0;
}

static void on_call(struct server *s)
{
	const struct seccomp_data *d = &s->asked->data;
	const struct trace_call *call = NULL;
	bool known;
	pid_t pid;
	int err;

	memset(s->asked, 0, s->asked_size);
	if (ioctl(s->listener, SECCOMP_IOCTL_NOTIF_RECV, s->asked) < 0) {
		s->totals.gone += errno == ENOENT;
		return;
	}
	err = trace_answer_errno(trace_decide(s->words, d->arch, d->nr, &call));
	if (err != 0) {
		if (answer(s, err))
			report_denied(s, d, err);
		else
			s->totals.gone++;
		return;
	}
	if (!call || !writes(s, call, &known)) {
		(void)answer(s, call ? 0 : EPERM);
		return;
	}
	read_texts(s, call);
	s->texts.flags |= known ? 0 : TRACE_UNREADABLE;
	pid = inner_pid((pid_t)s->asked->pid);
	/* The id of the process may have been another one's by now: only if the call still waits, it was its memory. */
	if (ioctl(s->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &s->asked->id) == 0 && answer(s, 0))
		report(s, d->nr, pid);
	else
		s->totals.gone++;
}

/* No process of the session is left: nothing waits, so this may wait for the supervisor. */
static void end(struct server *s)
{
	struct trace_head h = { .kind = TRACE_KIND_END };

	for (size_t i = 0; i < TRACE_REPEAT_PLACES; i++)
		send_repeat(s, &s->repeats.at[i], 0);
	for (size_t i = 0; i < s->n_denied; i++) {
		const struct trace_head d = { .kind = TRACE_KIND_DENIED,
					      .nr = s->denied[i].nr,
					      .err = s->denied[i].err,
					      .count = s->denied[i].count };

		if (s->denied[i].sent != s->denied[i].count)
			(void)send_message(s, &d, "", 0, 0);
	}
	h.totals = s->totals;
	(void)send_message(s, &h, "", 0, 0);
}

/* Waits for the one message of the supervisor. */
static bool take_listener(struct server *s)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr h = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	ssize_t n;

	do
		n = recvmsg(s->link, &h, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	for (struct cmsghdr *c = n == 1 ? CMSG_FIRSTHDR(&h) : NULL; c; c = CMSG_NXTHDR(&h, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		    c->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(&s->listener, CMSG_DATA(c), sizeof(int));
	/* The caller runs on this processor as soon as it is answered. */
	(void)ioctl(s->listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP);
	return s->listener >= 0;
}

/* A newer kernel may have longer structures. */
static bool make_room(struct server *s)
{
	struct seccomp_notif_sizes sizes = { 0 };

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return false;
	s->asked_size = sizes.seccomp_notif > sizeof(*s->asked) ? sizes.seccomp_notif : sizeof(*s->asked);
	s->answer_size =
		sizes.seccomp_notif_resp > sizeof(*s->answer) ? sizes.seccomp_notif_resp : sizeof(*s->answer);
	s->asked = calloc(1, s->asked_size);
	s->answer = calloc(1, s->answer_size);
	return s->asked && s->answer;
}

/* The descriptors of the supervisor: those of the session's files, its terminal, and the locks of its claims. */
static int leave_supervisor(int *link)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC), keep = fcntl(*link, F_DUPFD_CLOEXEC, 16);

	for (int i = 0; i < 3; i++)
		if (dup2(null, i) < 0)
			return -errno;
	if (dup3(keep, 3, O_CLOEXEC) < 0 || close_range(4, ~0U, 0) < 0)
		return -errno;
	*link = 3;
	(void)setsid();
	(void)prctl(PR_SET_NAME, "custody-trace");
	(void)prctl(PR_SET_DUMPABLE, 0);
	process_forbid_core();
	process_restore_signals();
	process_ignore_sigpipe();
	return 0;
}

/* False: the session is over. */
static bool step(struct server *s)
{
	struct pollfd p[] = { { .fd = s->listener, .events = POLLIN }, { .fd = s->link, .events = POLLIN } };

	if (poll(p, 2, -1) < 0)
		return errno == EINTR;
	if (p[0].revents & POLLIN) {
		on_call(s);
		return true;
	}
	if (p[0].revents) {
		end(s);
		return false;
	}
	return p[1].revents == 0;
}

void trace_serve(uint32_t words, int link)
{
	static struct server s;
	sigset_t none;

	(void)sigemptyset(&none);
	s = (struct server){ .words = words, .listener = -EBADF };
	if (leave_supervisor(&link) < 0)
		_exit(STATUS_FAILED);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	s.link = link;
	if (!make_room(&s) || !take_listener(&s))
		_exit(STATUS_FAILED);
	while (step(&s))
		;
	_exit(STATUS_OK);
}
