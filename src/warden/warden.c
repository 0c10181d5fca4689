/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/warden.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/process-pages.h"
#include "base/seam.h"
#include "warden/warden-state.h"

#define MS UINT64_C(1000000)
#define SETUP_MAX_MS UINT64_C(60000)
#define DISK_TICK_MS UINT64_C(250)
#define LAST_MESSAGE_MS UINT64_C(5000)
#define QUIET_MS UINT64_C(2000)

static uint64_t timeout_of(const struct warden *w, uint64_t usual_ms)
{
	return w->job->timeout_ms ? w->job->timeout_ms : usual_ms;
}

static void reap_creator(struct warden *w)
{
	while (w->creator.pid > 0 && waitpid(w->creator.pid, NULL, 0) < 0 && errno == EINTR)
		;
	w->creator.pid = -1;
}

static void on_creator(struct warden *w, bool ended)
{
	pid_t pid = -1;
	int r = creator_read(&w->creator, ended, &pid, w->fault.text ? NULL : &w->fault);

	if (r > 0) {
		w->init = pid;
		w->init_pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
		if (w->init_pidfd < 0) {
			r = fault_errno(&w->fault, errno, "watch process %d", (int)pid);
		} else {
			warden_send_created(w);
			seam("init-named");
			if (w->job->created)
				w->job->created(w->job->arg);
			return;
		}
	}
	creator_done(&w->creator);
	/* A small pids limit must not count the creator. Else do not wait for its exit: that takes a while. */
	if (r < 0 || (w->job->limits.pids && w->job->limits.pids < WARDEN_FEW_PIDS))
		reap_creator(w);
	/* Only now: earlier the work of the creator would have counted against the limits. */
	if (r == 0)
		r = cgroup_limit(w->job->cgroup, &w->job->limits, &w->fault);
	/* While init still proves the layers. */
	if (r == 0)
		warden_prove_limits(w);
	if (r < 0) {
		w->facts.setup_failed = true;
		warden_abort(w);
		/* It exited before it named the first process that it may have created. */
		if (w->init <= 0 && w->job->orphan)
			w->job->orphan(w->job->arg);
	}
	w->created = true;
	seam("limits-set");
}

/* The first process exited and with it everything in its pid namespace. */
static void on_end(struct warden *w)
{
	siginfo_t si = { 0 };

	if (waitid(P_PIDFD, (id_t)w->init_pidfd, &si, WEXITED | WNOHANG) < 0 || si.si_pid == 0)
		return;
	w->facts.ended = true;
	w->facts.init_status = si.si_code == CLD_EXITED ? W_EXITCODE(si.si_status, 0) : si.si_status & 0x7f;
	w->init_pidfd = fd_close(w->init_pidfd);
	seam("init-ended");
	/* Messages that it sent before its exit are still queued. */
	while (w->init_fd >= 0)
		warden_read_init(w);
}

void warden_tick(struct warden *w)
{
	int ms = w->job->tick ? w->job->tick(w->job->arg) : -1;

	w->tick_at = 0;
	if (ms >= 0)
		warden_arm(&w->tick_at, (uint64_t)ms);
}

void warden_on_time(struct warden *w)
{
	const uint64_t now = clock_boot_ns();

	if (w->setup_at && now >= w->setup_at) {
		w->setup_at = 0;
		w->facts.setup_failed = !w->released;
		if (!w->fault.text)
			(void)fault_set(&w->fault, ETIMEDOUT, "the container was not ready after %d seconds",
					(int)(SETUP_MAX_MS / 1000));
		if (w->creator.pid > 0)
			(void)kill(w->creator.pid, SIGKILL);
		warden_abort(w);
	}
	if (w->time_at && now >= w->time_at) {
		w->time_at = 0;
		w->facts.timed_out = true;
		warden_terminate(w, SIGTERM, w->job->subject->profile->limit_grace_s);
	}
	if (w->disk_at && now >= w->disk_at) {
		warden_arm(&w->disk_at, DISK_TICK_MS);
		/* Some programs remove their files when one cannot be written. */
		full_watch_look(&w->full);
		if (disk_watch_exceeds(&w->disk, false)) {
			w->disk_at = 0;
			w->facts.disk_exceeded = true;
			warden_kill(w);
		}
	}
	if (w->kill_at && now >= w->kill_at)
		warden_kill(w);
	if (w->tick_at && now >= w->tick_at)
		warden_tick(w);
	if (w->keys_at && now >= w->keys_at)
		warden_follow_terminal(w);
	/* A short command never pays for it. */
	if (w->quiet_at && now >= w->quiet_at) {
		w->quiet_at = 0;
		process_release_pages();
	}
}

int warden_next_timeout(const struct warden *w)
{
	const uint64_t at[] = { w->setup_at, w->time_at, w->kill_at, w->disk_at,
				w->tick_at,  w->keys_at, w->quiet_at };
	uint64_t first = 0, now = clock_boot_ns();

	for (size_t i = 0; i < ARRAY_SIZE(at); i++)
		if (at[i] && (!first || at[i] < first))
			first = at[i];
	if (!first)
		return -1;
	if (first <= now)
		return 0;
	first = (first - now) / MS + 1;
	return first > 60000 ? 60000 : (int)first;
}

void warden_released(struct warden *w)
{
	w->phase = WARDEN_RUNNING;
	w->setup_at = 0;
	warden_arm(&w->quiet_at, QUIET_MS);
	w->ret->started_us = clock_wall_us();
	w->start_ns = clock_boot_ns();
	if (w->job->time_s)
		warden_arm(&w->time_at, w->job->time_s * 1000);
	if (w->disk.dir)
		warden_arm(&w->disk_at, DISK_TICK_MS);
}

void warden_expect_end(struct warden *w)
{
	w->time_at = w->disk_at = 0;
	if (w->kill_at == 0)
		warden_arm(&w->kill_at, timeout_of(w, LAST_MESSAGE_MS));
}

/* clang-format off */
enum { P_SIGNAL, P_CREATOR, P_CREATOR_END, P_INIT, P_END, P_SIDE, P_EXEC = P_SIDE + WARDEN_SIDES, P_PUMPS = P_EXEC + WARDEN_EXEC_POLLS, P_N = P_PUMPS + 2 * STDIO_PUMPS };
/* clang-format on */

static int step(struct warden *w, struct fault *f)
{
	struct pollfd p[P_N];

	p[P_SIGNAL] = (struct pollfd){ .fd = w->signal_fd, .events = POLLIN };
	p[P_CREATOR] = (struct pollfd){ .fd = w->creator.fd, .events = POLLIN };
	p[P_CREATOR_END] = (struct pollfd){ .fd = w->creator.pidfd, .events = POLLIN };
	/* A report waits in its socket until the creator is done and the limits are set. */
	p[P_INIT] = (struct pollfd){ .fd = w->created ? w->init_fd : -1, .events = POLLIN };
	p[P_END] = (struct pollfd){ .fd = w->init_pidfd, .events = POLLIN };
	warden_side_poll(w, p + P_SIDE);
	warden_exec_poll(w, p + P_EXEC);
	for (int i = 0; i < STDIO_PUMPS; i++)
		pump_poll(&w->io.pump[i], p + P_PUMPS + 2 * i);
	if (w->keys_at)
		p[P_PUMPS + 2 * STDIO_KEYS].fd = -1;

	if (poll(p, P_N, warden_next_timeout(w)) < 0) {
		if (errno == EINTR)
			return 0;
		return fault_errno(f, errno, "wait for events");
	}
	warden_on_terminal(w, p + P_PUMPS);
	for (int i = 0; i < STDIO_PUMPS; i++)
		pump_step(&w->io.pump[i], p + P_PUMPS + 2 * i);
	warden_on_keys(w);
	if (p[P_SIGNAL].revents)
		warden_on_signal(w);
	if (p[P_CREATOR].revents || p[P_CREATOR_END].revents)
		on_creator(w, p[P_CREATOR_END].revents);
	if (p[P_INIT].revents && w->init_fd >= 0)
		warden_read_init(w);
	if (p[P_END].revents && w->init_pidfd >= 0)
		on_end(w);
	warden_side_step(w, p + P_SIDE);
	warden_exec_step(w, p + P_EXEC);
	warden_on_time(w);
	return 0;
}

/* Over when the creator has exited and the first process, if any, was reaped. */
static bool is_over(const struct warden *w)
{
	return w->created && w->init_pidfd < 0;
}

static int supervise(struct warden *w, struct fault *f)
{
	int r = 0;

	while (!is_over(w) && r == 0)
		r = step(w, f);
	return r;
}

/* The payload's last output. A signal to us stops waiting for a reader that does not read. */
void warden_drain(struct warden *w)
{
	w->phase = WARDEN_OVER;
	stdio_end_input(&w->io);
	for (int i = STDIO_OUT; i <= STDIO_SCREEN; i++) {
		while (!w->skip_output && !pump_drain(&w->io.pump[i])) {
			struct pollfd p[3] = { [2] = { .fd = w->signal_fd, .events = POLLIN } };

			pump_poll(&w->io.pump[i], p);
			if (poll(p, 3, -1) < 0 && errno != EINTR)
				return;
			if (p[2].revents)
				warden_on_signal(w);
		}
		if (w->io.pump[i].error)
			w->ret->output_error = w->io.pump[i].error;
	}
}

static int release_creator(struct warden *w, struct fault *f)
{
	int r = creator_release(&w->creator, f);

	seam("creator-released");
	return r;
}

static int spawn(struct warden *w, struct fault *f)
{
	int pair[2], r;
	struct creator_job cj = {
		.ops = w->job->ops,
		.rq = { .id = w->job->session->id, .preserve_fds = 1 },
		.prepare = w->job->prepare,
		.arg = w->job->arg,
		.stdio = w->io.child,
		.cgroup = w->job->cgroup,
		.keep_fd = w->job->keep_fd,
		.keep_also = w->job->keep_also,
	};

	/* The first process loses its parent during its creation: as subreaper we become its parent. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return fault_errno(f, errno, "become subreaper");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fault_errno(f, errno, "socket of init");
	w->init_fd = pair[0];
	cj.init_fd = pair[1];
	r = warden_send_filter(w, f);
	if (r == 0)
		r = creator_spawn(&cj, &w->creator, f);
	(void)fd_close(pair[1]);
	stdio_close_child(&w->io);
	if (r < 0)
		return r;
	seam("creator-forked");
	if (!w->creator.cloned_into)
		r = cgroup_attach(w->job->cgroup, w->creator.pid, f);
	if (r == 0 && !w->job->place)
		r = release_creator(w, f);
	return r;
}

/* One that has exited has sent the reason, which is nearer to the cause than that it cannot be moved. */
static int place(struct warden *w, struct fault *f)
{
	struct pollfd p = { .fd = w->creator.pidfd, .events = POLLIN };
	int r = w->job->place(w->job->arg, w->creator.pid, f);

	if (r < 0 && poll(&p, 1, 0) != 1)
		return r;
	if (r < 0 && f)
		fault_done(f);
	return release_creator(w, f);
}

void warden_done(struct warden *w)
{
	terminal_restore(&w->tty);
	stdio_done(&w->io);
	creator_done(&w->creator);
	w->init_fd = fd_close(w->init_fd);
	w->init_pidfd = fd_close(w->init_pidfd);
	w->filter_log = fd_close(w->filter_log);
	warden_unblock_signals(w);
	full_watch_done(&w->full);
	fault_done(&w->fault);
}

/* An error of the supervisor while a container may run. */
static void clean_up(struct warden *w)
{
	if (w->creator.pid > 0)
		(void)kill(w->creator.pid, SIGKILL);
	reap_creator(w);
	warden_abort(w);
	if (w->init <= 0 && w->job->orphan)
		w->job->orphan(w->job->arg);
	if (w->init_pidfd >= 0)
		(void)waitid(P_PIDFD, (id_t)w->init_pidfd, &(siginfo_t){ 0 }, WEXITED);
}

int warden_run(const struct warden_job *job, struct run_result *ret, struct fault *f)
{
	__attribute__((cleanup(warden_done))) struct warden w = {
		.job = job,
		.ret = ret,
		.creator = CREATOR_NONE,
		.init_fd = -EBADF,
		.init_pidfd = -EBADF,
		.signal_fd = -EBADF,
		.filter_log = -EBADF,
		.tty = TERMINAL_NONE,
	};
	int r;

	warden_exec_init(&w);
	r = stdio_open(&w.io, job->stdio, job->terminal.pty, f);
	stdio_remember(&w.io, job->tail);
	if (job->json)
		stdio_watch_lines(&w.io);
	stdio_log(&w.io, job->log);
	if (r == 0)
		r = warden_block_signals(&w, f);
	if (r == 0)
		r = proof_host_namespaces(w.host_ns, f);
	if (r == 0)
		r = spawn(&w, f);
	if (r == 0) {
		warden_arm(&w.setup_at, timeout_of(&w, SETUP_MAX_MS));
		if (job->creating)
			job->creating(job->arg, w.creator.pid);
		cgroup_sweep(job->cgroup);
		r = job->place ? place(&w, f) : 0;
	}
	if (r == 0)
		r = supervise(&w, f);
	warden_exec_over(&w);
	warden_side_drain(&w);
	if (r < 0) {
		clean_up(&w);
		return r;
	}
	warden_drain(&w);
	ret->open_line = job->json && stdio_has_open_line(&w.io);
	seam("output-drained");
	reap_creator(&w);
	/* Other processes that were reparented to us: the container has exited, so all of them are dead. */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return warden_conclude(&w, f);
}
