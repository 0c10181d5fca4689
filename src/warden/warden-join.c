/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/warden-join.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/seam.h"
#include "session/exec-socket.h"
#include "warden/warden-state.h"

#define SETUP_MAX_MS UINT64_C(60000)
#define OVER_MS 5000 /* how long the supervisor may take to say that its session is over */
#define CGROUP_MAX ((size_t)64 * 1024)

static void put_string(struct strbuf *b, const char *text)
{
	strbuf_add(b, text, strlen(text) + 1);
}

static int put_names(struct strbuf *b, char *const *env, struct fault *f)
{
	for (size_t i = 0; env && env[i]; i++) {
		size_t len = strcspn(env[i], "=");

		if (memchr(env[i], ',', len))
			return fault_set(f, EINVAL, "the name of variable '%.*s' has a comma", (int)len,
					 env[i]);
		if (i)
			strbuf_putc(b, ',');
		strbuf_add(b, env[i], len);
	}
	strbuf_putc(b, '\0');
	return 0;
}

/* The file of INIT_MSG_EXEC. */
static int write_request(const struct subject *s, unsigned int tty, struct fault *f)
{
	const struct init_exec_request head = { .magic = INIT_PROTO_MAGIC,
						.tty = tty,
						.n_args = (uint32_t)strv_len(s->argv),
						.n_env = (uint32_t)strv_len(s->env) };
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_close_ int fd = -EBADF;
	int r;

	strbuf_add(&b, (const char *)&head, sizeof(head));
	put_string(&b, s->cwd);
	r = put_names(&b, s->env, f);
	for (size_t i = 0; i < head.n_args; i++)
		put_string(&b, s->argv[i]);
	for (size_t i = 0; i < head.n_env; i++)
		put_string(&b, s->env[i]);
	if (r < 0)
		return r;
	if (b.len > INIT_EXEC_MAX || strv_len(s->argv) + strv_len(s->env) > INIT_EXEC_WORDS_MAX)
		return fault_set(f, E2BIG, "the command and its environment are too long");
	fd = memfd_create("request", MFD_CLOEXEC);
	if (fd < 0 || b.broken)
		return fault_errno(f, fd < 0 ? errno : ENOMEM, "request");
	r = fd_write_all(fd, b.text, b.len, f);
	return r < 0 ? r : TAKE_FD(fd);
}

/*
 * The command opens /dev/stdout by its own uid.  As a user it is the caller's, or a subordinate id, to which the caller cannot give
 * a pipe: then every id may open it, which needs access to a process that has it.
 */
static int own_stdio(const struct stdio *io, uid_t uid, gid_t gid, struct fault *f)
{
	const bool root = geteuid() == 0;
	struct stat st;

	for (int i = 0; (root || uid != geteuid()) && i < STDIO_N; i++) {
		if (root && fchown(io->child[i], uid, gid) < 0)
			return fault_errno(f, errno, "owner of the command's descriptor %d", i);
		if (!root && fstat(io->child[i], &st) == 0 && S_ISFIFO(st.st_mode) &&
		    fchmod(io->child[i], 0666) < 0)
			return fault_errno(f, errno, "mode of the command's descriptor %d", i);
	}
	return 0;
}

/* The kernel adds the pid of the sender to each message: that of the process which reports. */
static int make_pair(int pair[2], struct fault *f)
{
	const int on = 1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fault_errno(f, errno, "socket of the command");
	if (setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return fault_errno(f, errno, "credentials of the command");
	return 0;
}

static int start(struct warden *w, struct fault *f)
{
	const struct warden_join *j = w->join;
	_cleanup_close_ int request = write_request(j->subject, j->terminal.pty, f), inner = -EBADF;
	struct exec_msg m = { 0 };
	int pair[2] = { -EBADF, -EBADF }, r;

	if (request < 0)
		return request;
	r = make_pair(pair, f);
	w->init_fd = pair[0];
	inner = pair[1];
	if (r == 0)
		r = own_stdio(&w->io, j->uid, j->gid, f);
	if (r == 0) {
		const int fds[INIT_EXEC_FDS] = { inner, request, w->io.child[0], w->io.child[1],
						 w->io.child[2] };

		(void)snprintf(m.id, sizeof(m.id), "%s", j->id);
		(void)snprintf(m.digest, sizeof(m.digest), "%s", j->digest);
		r = exec_msg_send(j->client, &m, EXEC_MSG_START, fds, INIT_EXEC_FDS);
		if (r < 0)
			(void)fault_errno(f, -r, "pass the command to the session's supervisor");
	}
	stdio_close_child(&w->io);
	return r;
}

static int read_cgroup(pid_t pid, char **ret, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	char path[48];
	size_t len;

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? fault_errno(f, errno, "open '%s'", path) : fd_read_all(fd, CGROUP_MAX, ret, &len, f);
}

/* The limits are those of the session's cgroup: the command must be in it. */
static int require_cgroup(const struct warden *w, struct fault *f)
{
	_cleanup_free_ char *own = NULL, *session = NULL;
	int r;

	if (w->init <= 0)
		return fault_set(f, EPROTO, "the kernel did not name the process that reported");
	r = read_cgroup(w->init, &own, f);
	if (r >= 0)
		r = read_cgroup(w->join->init, &session, f);
	if (r < 0)
		return r;
	return strcmp(own, session) == 0 ? 0
					 : fault_set(f, EPERM, "the command is not in the session's cgroup");
}

int warden_join_prove(const struct warden *w, const struct init_msg *report, struct fault *f)
{
	if (memcmp(report->ns, w->join->ns, sizeof(report->ns)) != 0)
		return fault_set(f, EPERM, "the command is not in the namespaces of the session");
	return require_cgroup(w, f);
}

/* The first call lets the child inside kill the command; it closes its socket when nothing is left.  The second does not wait. */
void warden_join_kill(struct warden *w)
{
	const bool again = w->join_ended;

	w->join_ended = true;
	if (w->init_fd < 0)
		return;
	if (again) {
		w->init_fd = fd_close(w->init_fd);
		return;
	}
	(void)shutdown(w->init_fd, SHUT_WR);
	warden_arm(&w->kill_at, OVER_MS);
}

/* The session's supervisor: it refused, or its session is over. */
static void read_client(struct warden *w)
{
	int fds[INIT_EXEC_FDS];
	struct exec_msg m = { 0 };
	size_t n;
	int r = exec_msg_receive(w->join->client, &m, fds, &n);

	if (r == -EAGAIN)
		return;
	for (size_t i = 0; i < n; i++)
		(void)fd_close(fds[i]);
	w->join_over = true;
	if (r == 1 && m.type == EXEC_MSG_REFUSED && !w->released) {
		w->facts.setup_failed = true;
		fault_done(&w->fault);
		(void)fault_set(&w->fault, EBUSY, "%s", m.text);
		warden_abort(w);
	}
}

/* clang-format off */
enum { J_SIGNAL, J_INIT, J_CLIENT, J_PUMPS, J_N = J_PUMPS + 2 * STDIO_PUMPS };
/* clang-format on */

static int step(struct warden *w, struct fault *f)
{
	struct pollfd p[J_N];

	p[J_SIGNAL] = (struct pollfd){ .fd = w->signal_fd, .events = POLLIN };
	p[J_INIT] = (struct pollfd){ .fd = w->init_fd, .events = POLLIN };
	p[J_CLIENT] = (struct pollfd){ .fd = w->join_over ? -1 : w->join->client, .events = POLLIN };
	for (int i = 0; i < STDIO_PUMPS; i++)
		pump_poll(&w->io.pump[i], p + J_PUMPS + 2 * i);
	if (w->keys_at)
		p[J_PUMPS + 2 * STDIO_KEYS].fd = -1;
	if (poll(p, J_N, warden_next_timeout(w)) < 0)
		return errno == EINTR ? 0 : fault_errno(f, errno, "wait for events");
	warden_on_terminal(w, p + J_PUMPS);
	for (int i = 0; i < STDIO_PUMPS; i++)
		pump_step(&w->io.pump[i], p + J_PUMPS + 2 * i);
	warden_on_keys(w);
	if (p[J_SIGNAL].revents)
		warden_on_signal(w);
	/* Before the supervisor's word: the last messages of the command are queued in its own socket. */
	if (p[J_INIT].revents && w->init_fd >= 0)
		warden_read_init(w);
	if (p[J_CLIENT].revents)
		read_client(w);
	warden_on_time(w);
	return 0;
}

/* Its socket was closed without a last message: did the session end? */
static void await_over(struct warden *w)
{
	struct pollfd p = { .fd = w->join->client, .events = POLLIN };

	while (!w->join_over && poll(&p, 1, OVER_MS) > 0)
		read_client(w);
}

static char *describe(const struct warden *w)
{
	const struct subject *s = w->join->subject;
	char *text = NULL;
	int n = 0;

	if (w->ret->exit.reason == EXIT_REASON_SETUP_FAILED)
		n = asprintf(&text, "nothing was executed: %s", fault_text(&w->fault));
	else if (w->ret->exit.reason == EXIT_REASON_LOST)
		n = asprintf(&text, "the exit status of the command is unknown");
	else if (w->facts.exec_failed)
		n = asprintf(&text, "cannot execute '%s' inside: %s%s", s->argv[0],
			     strerror(w->facts.exec_errno),
			     w->facts.exec_errno == EAGAIN ? " (limits.pids of the session)" : "");
	else if (w->join_killed && !w->facts.cancelled && w->ret->exit.reason != EXIT_REASON_CANCELLED)
		n = asprintf(&text, "the session ended, and the command with it");
	else if (w->ret->output_error)
		n = asprintf(&text, "output could not be written, some of it is lost: %s",
			     strerror(w->ret->output_error));
	return n < 0 ? NULL : text;
}

static void explain_no_report(struct warden *w)
{
	if (w->facts.exec_failed) {
		w->facts.exec_failed = false;
		(void)fault_errno(&w->fault, w->facts.exec_errno,
				  "the session cannot create a process (limits.pids, limits.memory)");
	} else if (!w->fault.text) {
		(void)fault_set(&w->fault, EIO, "the process in the session exited before it reported");
	}
	w->facts.setup_failed = !w->facts.cancelled;
}

static void conclude(struct warden *w)
{
	struct exit_facts *x = &w->facts;

	if (!w->released)
		explain_no_report(w);
	else if (!x->reported && !x->exec_failed && !w->join_ended)
		await_over(w);
	w->join_killed = w->released && !x->reported && !x->exec_failed && (w->join_over || w->join_ended);
	if (w->join_killed) {
		x->reported = true;
		x->status = SIGKILL;
	}
	/* Its message is the only source: its parent is the session's init. */
	x->ended = x->reported;
	x->init_status = W_EXITCODE(WIFSIGNALED(x->status) ? STATUS_SIGNAL_BASE + WTERMSIG(x->status)
							   : WEXITSTATUS(x->status),
				    0);
	x->typed = w->keys.signal;
	w->ret->exit = exit_decide(x);
	w->ret->ended_us = clock_wall_us();
	w->ret->duration_ms = w->start_ns ? (clock_boot_ns() - w->start_ns) / 1000000 : 0;
	free(w->ret->detail);
	w->ret->detail = describe(w);
}

int warden_join(const struct warden_join *j, struct run_result *ret, struct fault *f)
{
	const struct warden_job job = { .subject = j->subject,
					.release = j->release,
					.tick = j->tick,
					.arg = j->arg,
					.terminal = j->terminal,
					.quiet = j->quiet,
					.status_fd = -EBADF };
	__attribute__((cleanup(warden_done))) struct warden w = {
		.job = &job,
		.join = j,
		.ret = ret,
		.creator = CREATOR_NONE,
		.init_fd = -EBADF,
		.init_pidfd = -EBADF,
		.signal_fd = -EBADF,
		.filter_log = -EBADF,
		.tty = TERMINAL_NONE,
		.limits = j->limits,
	};
	int r;

	r = stdio_open(&w.io, j->stdio, j->terminal.pty, f);
	if (r == 0)
		r = warden_block_signals(&w, f);
	if (r == 0)
		r = proof_host_namespaces(w.host_ns, f);
	if (r == 0)
		r = start(&w, f);
	if (r < 0)
		return r;
	seam("exec-passed");
	warden_arm(&w.setup_at, SETUP_MAX_MS);
	while (w.init_fd >= 0 && r == 0)
		r = step(&w, f);
	if (r < 0)
		return r;
	warden_drain(&w);
	conclude(&w);
	return 0;
}
