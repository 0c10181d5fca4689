/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/seam.h"
#include "warden/filter-record.h"
#include "warden/warden-state.h"

/*
 * One message; *RET_FD is its descriptor, or -EBADF; *RET_PID its sender, if the socket asks for it. 0: end of file, -EAGAIN:
 * none queued.
 */
static int receive(int fd, struct init_msg *m, int *ret_fd, pid_t *ret_pid)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct ucred sender;
	struct iovec iov = { .iov_base = m, .iov_len = sizeof(*m) };
	struct msghdr h = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t n;

	*ret_fd = -EBADF;
	do
		n = recvmsg(fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	/* ECONNRESET once if init exited with a message of ours unread, before its last messages. */
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n <= 0)
		return n < 0 ? -errno : 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&h); c; c = CMSG_NXTHDR(&h, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
		if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len == CMSG_LEN(sizeof(sender))) {
			memcpy(&sender, CMSG_DATA(c), sizeof(sender));
			*ret_pid = sender.pid;
		}
	}
	if (n != sizeof(*m) || m->magic != INIT_PROTO_MAGIC)
		return -EPROTO;
	return 1;
}

static bool has_filter(const struct warden *w)
{
	return w->job->filter_fd && *w->job->filter_fd >= 0;
}

int warden_send_filter(const struct warden *w, struct fault *f)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct init_msg m = { .magic = INIT_PROTO_MAGIC, .type = INIT_MSG_FILTER };
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr h = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	if (!has_filter(w))
		return 0;
	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
			       .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(c), w->job->filter_fd, sizeof(int));
	if (sendmsg(w->init_fd, &h, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(m))
		return fault_errno(f, errno, "pass the filter to custody-init");
	return 0;
}

/* Nothing is executed without the observer: else the record would have a hole without a name. */
static int on_listener(struct warden *w, const struct init_msg *m, int fd, struct fault *f)
{
	int r;

	if (!has_filter(w) || w->phase != WARDEN_CREATING || w->listens)
		return fault_set(f, EPROTO, "custody-init passed a filter that was not asked for");
	if (m->value == EBUSY)
		return fault_set(
			f, EBUSY,
			"system calls cannot be observed: another program observes those of custody; "
			"set \"audit\": { \"trace\": [] } in the profile");
	if (m->value || fd < 0)
		return fault_set(f, m->value > 0 ? m->value : EPROTO,
				 "system calls cannot be observed (%s); set \"audit\": { \"trace\": [] } in "
				 "the profile",
				 strerror(m->value > 0 ? m->value : EPROTO));
	r = w->job->listener(w->job->arg, fd, f);
	w->listens = r == 0;
	return r;
}

/* Before it proves its layers: it finds the network as it will stay. */
static int on_network(struct warden *w, int fd, struct fault *f)
{
	int r;

	if (!w->job->network || w->phase != WARDEN_CREATING || w->networked || fd < 0)
		return fault_set(f, EPROTO, "custody-init asked for a network that it does not get");
	r = w->job->network(w->job->arg, w->init, f);
	if (r < 0)
		return r;
	w->networked = true;
	return write(fd, "", 1) == 1 ? 0 : fault_errno(f, errno, "answer custody-init");
}

static bool has_limit(pid_t pid, int resource, uint64_t want)
{
	struct rlimit64 l;

	return prlimit64(pid, resource, NULL, &l) == 0 && l.rlim_max == want;
}

/*
 * The limits that are proven. Those of the cgroup are read back from the kernel; time is our own clock, which starts
 * with the release; the disk is watched by us, and RLIMIT_FSIZE limits a single file between two checks.
 */
void warden_prove_limits(struct warden *w)
{
	const struct cgroup_limits *l = &w->job->limits;
	_cleanup_fault_ struct fault f = { 0 };

	w->limits = w->job->time_s ? LAYER_BIT(LAYER_TIME_LIMIT) : 0;
	if (cgroup_prove(w->job->cgroup, l, w->init, &f) == 0)
		w->limits |= (l->memory ? LAYER_BIT(LAYER_MEMORY_LIMIT) : 0) |
			     (l->pids ? LAYER_BIT(LAYER_PIDS_LIMIT) : 0) |
			     (l->cpu_percent ? LAYER_BIT(LAYER_CPU_LIMIT) : 0);
	else if (!w->fault.text)
		(void)fault_set(&w->fault, ESTALE, "%s", fault_text(&f));
	if (w->job->disk && has_limit(w->init, RLIMIT_FSIZE, w->job->disk))
		w->limits |= LAYER_BIT(LAYER_DISK_LIMIT);
}

static int use_terminal(struct warden *w, int *master, struct fault *f)
{
	int r;

	if (*master < 0)
		return fault_set(f, EPROTO, "custody-init sent no terminal");
	r = terminal_attach(&w->tty, &w->job->terminal, TAKE_FD(*master), f);
	if (r == 0)
		r = stdio_use_terminal(&w->io, &w->job->terminal, w->tty.master, f);
	stdio_remember(&w->io, w->job->tail);
	w->keys.master = w->tty.master;
	if (w->tty.fd >= 0)
		w->io.pump[STDIO_KEYS].keys = &w->keys;
	if (r == 0)
		warden_follow_terminal(w);
	return r;
}

static int on_report(struct warden *w, const struct init_msg *m, int *fd, struct fault *f)
{
	const struct subject *s = w->job->subject;
	struct init_msg go = { .magic = INIT_PROTO_MAGIC, .type = INIT_MSG_GO };
	int r;

	if (w->phase != WARDEN_CREATING)
		return fault_set(f, EPROTO, "custody-init reported twice");
	if (has_filter(w) && !w->listens)
		return fault_set(f, EPROTO, "custody-init did not install the filter that observes");
	if (w->job->network && !w->networked)
		return fault_set(f, EPROTO, "custody-init did not wait for its network");
	r = proof_compare(m, s->layers, s->profile->optional, w->limits, w->host_ns, w->ret->layers, f);
	w->ret->proven = true;
	if (r < 0)
		return r;
	memcpy(w->init_ns, m->ns, sizeof(w->init_ns));
	r = w->join ? warden_join_prove(w, m, f) : 0;
	if (r < 0)
		return r;
	seam("layers-proven");
	fault_done(&w->fault);
	if (w->job->terminal.pty) {
		r = use_terminal(w, fd, f);
		if (r < 0)
			return r;
	}
	if (w->job->release) {
		r = w->job->release(w->job->arg, w->init, w->ret->layers, f);
		if (r < 0)
			return r;
	}
	/* Before the release: a quick payload may exit before its start is reported. */
	disk_watch_init(&w->disk, w->job->layer_dir, w->job->disk, w->init);
	w->disk.ids = w->job->layer_ids;
	w->disk.also = w->job->layer_also;
	w->disk.cgroup = w->job->cgroup;
	full_watch_open(&w->full, s, w->init);
	/* Behind the records of init's own tries. */
	if (s->profile->seccomp_violation == PROFILE_SECCOMP_KILL)
		w->filter_log = filter_record_open();
	w->phase = WARDEN_RELEASED;
	if (send(w->init_fd, &go, sizeof(go), MSG_NOSIGNAL) != sizeof(go))
		return fault_errno(f, errno, "release init");
	w->released = true;
	seam("go-sent");
	warden_tick(w);
	return 0;
}

static int on_message(struct warden *w, const struct init_msg *m, int *fd, struct fault *f)
{
	const struct subject *s = w->job->subject;

	switch (m->type) {
	case INIT_MSG_REPORT:
		return on_report(w, m, fd, f);
	case INIT_MSG_NETWORK:
		return on_network(w, *fd, f);
	case INIT_MSG_LISTENER:
		return on_listener(w, m, *fd, f);
	case INIT_MSG_EXECED:
		warden_released(w);
		warden_send_started(w);
		if (w->job->started)
			w->job->started(w->job->arg);
		if (w->join_signal)
			warden_terminate(w, w->join_signal, s->profile->limit_grace_s);
		seam("payload-started");
		return 0;
	case INIT_MSG_EXEC_FAILED:
		w->facts.exec_failed = true;
		w->facts.exec_errno = m->value;
		warden_expect_end(w);
		return 0;
	case INIT_MSG_EXITED:
		w->facts.reported = true;
		w->facts.status = m->value;
		seam("payload-ended");
		warden_expect_end(w);
		return 0;
	default:
		return fault_set(f, EPROTO, "unexpected message type %u from custody-init", m->type);
	}
}

void warden_read_init(struct warden *w)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_fault_ struct fault f = { 0 };
	struct init_msg m;
	pid_t sender = w->init;
	int r;

	r = receive(w->init_fd, &m, &fd, &sender);
	if (w->join && r > 0 && w->phase == WARDEN_CREATING)
		w->init = sender;
	if (r == -EAGAIN && !w->facts.ended)
		return;
	if (r <= 0) {
		w->init_fd = fd_close(w->init_fd);
		/* It will send nothing more, alive or not: do not wait much longer. */
		if (r != -EPROTO && !w->facts.ended)
			warden_expect_end(w);
		if (r != -EPROTO)
			return;
		(void)fault_set(&f, EPROTO, "malformed message from custody-init");
	} else if (on_message(w, &m, &fd, &f) == 0) {
		return;
	}
	/* Before the release nothing was executed; after it init is not trusted any more. */
	if (!w->released)
		w->facts.setup_failed = true;
	if (w->fault.text)
		fault_done(&w->fault);
	w->fault = f;
	f = (struct fault){ 0 };
	warden_abort(w);
}
