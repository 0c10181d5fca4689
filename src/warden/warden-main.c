/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "approval/approval-lane.h"
#include "config/config.h"
#include "container/container-evidence.h"
#include "container/container-note.h"
#include "evidence/delivery.h"
#include "base/exit-status.h"
#include "approval/grant.h"
#include "ledger/ledger-claim.h"
#include "subject/placement.h"
#include "subject/subject-digest.h"
#include "container/warden-handover.h"
#include "container/warden-channel.h"
#include "session/exit-reason.h"
#include "evidence/evidence-ledger.h"
#include "evidence/evidence-scope.h"
#include "cgroup/oom-watch.h"
#include "warden/pidfd-status.h"
#include "warden/warden-exit.h"
#include "warden/warden-backup.h"

/*
 * Stands beside one container that a foreign runtime runs from a bundle, started by `custody-hook approve` before it
 * is.  Nobody's child and nobody's parent: it sees the first process through a pidfd.
 *
 *	door	custody-hook, having mounted the worktree, brings descriptors of it
 *	start	custody-init is executed (inotify on its file says when to look): the grant is consumed, else the container killed
 *	end	the pidfd hangs up: evidence if it was abnormal, the end record, the claim dropped, exit.json
 *
 * What it cannot record must not run: a failure before the start kills the container.
 */
#define LOOK_AGAIN_MS 1 /* an exec that was announced is finished by then, or the next time */
#define LOOK_TRIES 2000 /* then it was somebody else's */
#define ZOMBIE_MS 10000 /* how long a parent may leave it uncollected before its end counts as lost */
#define NS_PER_MS UINT64_C(1000000)

struct guard {
	struct warden_request order;
	struct dirs dirs;
	struct config *config;
	struct ledger *ledger;
	struct approval_lane approval;
	struct claim claim;
	struct ledger_run run;
	char digest[SUBJECT_DIGEST_SIZE];
	bool started, denied, ended;
	bool announced;	    /* somebody opened init's file: it may have been ours */
	unsigned int looks; /* left, after an announcement */
	bool unheld;	    /* it started, and its worktree was not brought: killed for that */
	struct warden_held held;
	struct warden_backup keeper;
	struct oom_watch oom;
	uint64_t began_ns, began_us, alive_ns;
	int zombie_status;
	bool zombie_seen;
};

static int open_places(struct guard *g, struct fault *f)
{
	_cleanup_free_ char *open_dir = NULL;
	int r;

	r = dirs_load_lane(g->order.lane, &g->dirs, f);
	if (r >= 0)
		r = config_load(&g->dirs, &g->config, f);
	if (r >= 0)
		r = ledger_open(g->dirs.state, NULL, &g->ledger, NULL, f);
	if (r >= 0)
		r = approval_lane_open(&g->dirs, g->config, g->ledger, &g->approval, f);
	if (r >= 0)
		r = approval_lane_tighten(&g->approval, g->order.governance, g->order.profile, f);
	if (r < 0)
		return r;
	open_dir = path_join(g->dirs.state, CLAIM_DIR);
	if (!open_dir)
		return fault_errno(f, ENOMEM, "claim");
	g->claim.dirfd = open(open_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (g->claim.dirfd < 0)
		return fault_errno(f, errno, "open '%s'", open_dir);
	return 0;
}

static void fill_run(struct guard *g)
{
	subject_digest_to_text(&g->order.digest, g->digest);
	g->run = (struct ledger_run){
		.action = "create",
		.session = g->order.session,
		.lane = lane_name(g->order.lane),
		.digest = g->digest,
		.sandbox = true,
		.intended = true,
	};
}

/* Is the first process our init now?  Its arguments are ours from the moment of the exec on, and anybody may read them. */
static bool is_started(const struct guard *g)
{
	_cleanup_close_ int fd = -EBADF;
	char path[40], text[sizeof(INIT_PATH)];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)g->order.pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	return n == (ssize_t)sizeof(text) && memcmp(text, INIT_PATH, sizeof(text)) == 0;
}

static void kill_container(struct guard *g)
{
	g->denied = true;
	(void)syscall(SYS_pidfd_send_signal, WARDEN_PIDFD, SIGKILL, NULL, 0);
}

static int consume(struct guard *g, struct fault *f)
{
	const struct grant_query q = { .digest = &g->order.digest,
				       .level = g->order.level,
				       .uid = g->order.uid,
				       .user = g->order.user };
	_cleanup_grants_ struct grant_set set = { 0 };
	int r;

	if (!g->order.reserved)
		return 0;
	r = grant_consume(&g->approval.store, &q, g->order.session, &set, f);
	if (r >= 0 && set.reason != GRANT_VALID)
		return fault_set(f, EPERM, "grant: %s", grant_reason_text(set.reason));
	return r;
}

/* Once: whoever comes later, under the same container's id, brings nothing of this one. */
static void hear_door(struct guard *g)
{
	if (g->held.tree >= 0 || warden_handover_receive(WARDEN_HANDOVER, &g->held, NULL) != 1)
		return;
	warden_handover_shut(WARDEN_SESSION, g->order.container);
	warden_backup_hold(&g->keeper, &g->held);
}

/* The payload is a few hundred microseconds away, behind init's proofs: what is wrong ends it. */
static void note_start(struct guard *g)
{
	_cleanup_fault_ struct fault f = { 0 };
	int r;

	hear_door(g);
	/* Mounted before it was started, and brought when it was mounted.  Without init nobody can say when that is. */
	if (g->held.tree < 0 && g->order.init && !g->ended) {
		g->unheld = true;
		kill_container(g);
		/* We may have looked late: a grant must never come back from something that ran. */
		(void)!consume(g, &f);
		return;
	}
	g->started = true;
	/* A user has few of them, 128 by default: only what has not started yet holds one. */
	(void)close(WARDEN_WATCH);
	g->began_ns = g->alive_ns = clock_boot_ns();
	g->began_us = clock_wall_us();
	r = consume(g, &f);
	if (r >= 0)
		r = ledger_start(g->ledger, &g->run, g->order.pid, NULL, &f);
	if (r < 0)
		kill_container(g);
	else if (!g->ended)
		oom_watch_open(&g->oom, g->order.pid, false);
	if (r >= 0)
		(void)!container_note_begin(&(struct container_begin){ .dirs = &g->dirs,
								       .config = g->config,
								       .session = g->order.session,
								       .dir = WARDEN_SESSION,
								       .started_us = g->began_us },
					    NULL);
}

static void look(struct guard *g)
{
	if (g->started || g->denied)
		return;
	if (is_started(g))
		note_start(g);
	else if (g->looks > 0)
		g->looks--;
}

static void hear_watch(struct guard *g)
{
	char events[4096];

	while (read(WARDEN_WATCH, events, sizeof(events)) > 0) {
		g->announced = true;
		g->looks = LOOK_TRIES;
	}
	look(g);
}

/* Milliseconds until something is due without an event. */
static int next_due(struct guard *g)
{
	uint64_t age_ms = (clock_boot_ns() - g->alive_ns) / NS_PER_MS;
	int due, left;

	if (g->looks > 0 && !g->started)
		return LOOK_AGAIN_MS;
	if (!g->started)
		return -1;
	if (age_ms >= LEDGER_ALIVE_MS) {
		g->alive_ns = clock_boot_ns();
		age_ms = 0;
		(void)!ledger_heartbeat(g->ledger, &g->run, NULL);
	}
	due = ledger_sync_due_ms(g->ledger);
	if (due == 0)
		due = ledger_sync(g->ledger, NULL) < 0 ? LEDGER_SYNC_MS : -1;
	left = (int)(LEDGER_ALIVE_MS - age_ms);
	return due >= 0 && due < left ? due : left;
}

/* Dead, perhaps not yet collected: then whoever may look sees how it ended; else the kernel says so afterwards. */
static void wait_collected(struct guard *g)
{
	struct pollfd p = { .fd = WARDEN_PIDFD };
	int r;

	g->zombie_seen = pidfd_end_zombie(g->order.pid, &g->zombie_status);
	do
		r = g->zombie_seen ? 0 : poll(&p, 1, ZOMBIE_MS);
	while (r < 0 && errno == EINTR);
	g->ended = true;
}

static void supervise(struct guard *g)
{
	while (!g->ended) {
		struct pollfd p[] = { { .fd = WARDEN_PIDFD, .events = POLLIN },
				      { .fd = g->started || g->denied ? -1 : WARDEN_WATCH, .events = POLLIN },
				      { .fd = g->held.tree < 0 ? WARDEN_HANDOVER : -1, .events = POLLIN },
				      { .fd = g->oom.event, .events = oom_watch_events(&g->oom) } };
		int r = poll(p, 4, next_due(g));

		if (r < 0 && errno != EINTR)
			return;
		if (r > 0 && p[2].revents)
			hear_door(g);
		if (r > 0 && p[3].revents)
			oom_watch_read(&g->oom);
		if (r > 0 && p[1].revents)
			hear_watch(g);
		else
			look(g);
		if (r > 0 && p[0].revents)
			wait_collected(g);
	}
	/*
	 * Over before it was seen.  Nothing can be executed that was not opened: if nobody opened init it did not start;
	 * if somebody did it counts as started, for a grant must never come back from something that ran.
	 */
	if (!g->started && !g->denied)
		hear_watch(g);
	if (!g->started && !g->denied && g->announced)
		note_start(g);
}

/* What init, a pid 1, ends with when its payload was killed, and what it ends with when it was. */
static bool is_killed(const struct exit_verdict *v)
{
	return v->code == STATUS_SIGNAL_BASE + SIGKILL;
}

static struct exit_verdict judge_end(struct guard *g, const char **ret_source)
{
	struct exit_verdict v = { .reason = EXIT_REASON_LOST, .code = STATUS_FAILED, .abnormal = true };
	int status = 0;
	bool known = pidfd_end_status(WARDEN_PIDFD, &status);

	*ret_source = known ? "pidfd" : "proc";
	if (!known && g->zombie_seen) {
		known = true;
		status = g->zombie_status;
	}
	if (!g->started || g->denied) {
		bool denied = g->denied && !g->unheld;

		v.reason = denied ? EXIT_REASON_DENIED : EXIT_REASON_SETUP_FAILED;
		v.code = denied ? STATUS_UNAPPROVED : STATUS_FAILED;
		*ret_source = "warden";
	} else if (!known) {
		*ret_source = "warden";
	} else if (WIFSIGNALED(status)) {
		v.reason = EXIT_REASON_SIGNALED;
		v.signal = WTERMSIG(status);
		v.code = STATUS_SIGNAL_BASE + v.signal;
	} else {
		v.reason = EXIT_REASON_EXITED;
		v.code = WEXITSTATUS(status);
		v.abnormal = v.code != 0;
	}
	if (g->started && !g->denied && oom_watch_decide(&g->oom, is_killed(&v))) {
		v.reason = EXIT_REASON_OOM;
		v.abnormal = true;
		*ret_source = exit_source_name(EXIT_SOURCE_CGROUP);
	}
	return v;
}

static int take_evidence(const struct guard *g, const struct exit_verdict *v, const struct ledger_end *end,
			 struct evidence_taken *ret, struct fault *f)
{
	_cleanup_container_info_ struct container_info d = { 0 };
	struct container_case c = { .dirs = &g->dirs,
				    .config = g->config,
				    .info = &d,
				    .session = g->order.session,
				    .end = end,
				    .started_us = g->began_us,
				    .tree = g->held.tree,
				    .upper = g->held.upper,
				    .why = "nobody brought the worktree" };
	struct profile p = { 0 };
	int r;

	r = container_info_read(WARDEN_SESSION, &d, f);
	if (r < 0)
		return r;
	p.sections[PROFILE_SECTION_FORENSICS] = d.forensics;
	c.scope = evidence_scope_decide_shell(&p, v);
	return c.scope == EVIDENCE_SCOPE_NONE ? 0 : container_evidence_capture(&c, ret, f);
}

/* Who reads exit.json finds the end in the ledger. */
static int tell_end(struct guard *g, struct fault *f)
{
	_cleanup_taken_ struct evidence_taken taken = { 0 };
	_cleanup_fault_ struct fault why = { 0 };
	const char *source = NULL;
	struct exit_verdict v = judge_end(g, &source);
	struct ledger_end end = { .reason = exit_reason_name(v.reason),
				  .source = source,
				  .code = v.code,
				  .signal = v.signal,
				  .abnormal = v.abnormal,
				  .wall_ms = g->started ? (clock_boot_ns() - g->began_ns) / NS_PER_MS : 0 };
	int r = 0;

	if (g->started && v.abnormal && take_evidence(g, &v, &end, &taken, &why) < 0)
		end.evidence_error = fault_text(&why);
	if (taken.path)
		evidence_ledger_end(&taken, &end);
	container_note_end(&g->dirs, g->order.session, &end);
	if (!g->started && !g->unheld && g->order.reserved)
		r = grant_release(&g->approval.store, g->order.session, end.reason, f);
	if (r >= 0)
		r = g->started ? ledger_end(g->ledger, g->dirs.state, &g->run, &end, f)
			       : ledger_refuse(g->ledger, &g->run, end.reason,
					       g->unheld ? "nobody brought its worktree" : "it never started",
					       f);
	if (r >= 0)
		claim_drop(&g->claim);
	/* From here on there is nothing that anybody could tell instead of us. */
	if (r >= 0)
		warden_backup_end(&g->keeper);
	if (r >= 0 && taken.staged)
		delivery_kick(&g->dirs, g->config);
	if (r >= 0)
		r = warden_exit_write(&(struct warden_exit){ .reason = end.reason,
							     .source = source,
							     .session = g->order.session,
							     .container = g->order.container,
							     .code = v.code,
							     .signal = v.signal,
							     .abnormal = v.abnormal,
							     .evidence = end.evidence,
							     .evidence_error = end.evidence_error },
				      f);
	if (r >= 0)
		warden_exit_clean(&g->dirs, g->order.session);
	return r;
}

static void guard_done(struct guard *g)
{
	approval_lane_done(&g->approval);
	claim_done(&g->claim);
	ledger_free(g->ledger);
	config_free(g->config);
	dirs_done(&g->dirs);
	warden_request_done(&g->order);
	warden_held_done(&g->held);
	oom_watch_done(&g->oom);
}

static int run(struct guard *g, struct fault *f)
{
	int r;

	memcpy(g->claim.session, g->order.session, sizeof(g->claim.session));
	g->claim.fd = WARDEN_CLAIM;
	fill_run(g);
	r = warden_backup_start(&g->keeper, &g->order, f);
	if (r >= 0)
		r = open_places(g, f);
	if (r < 0)
		return r;
	/* Runtimes have put it into its cgroup by now; if one has not, there is a second look. */
	oom_watch_open(&g->oom, g->order.pid, true);
	if (!g->order.init)
		note_start(g);
	supervise(g);
	return tell_end(g, f);
}

/* Whoever holds the caller's pipes keeps the caller waiting, whoever stays in its session hears its terminal hang up. */
static int detach(struct fault *f)
{
	_cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return fault_errno(f, errno, "open '/dev/null'");
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (dup2(null, fd) < 0)
			return fault_errno(f, errno, "standard streams");
	if (setsid() < 0 || chdir("/") < 0)
		return fault_errno(f, errno, "leave the caller's session");
	return 0;
}

/* Received in one piece with nothing else open: they lie where they belong, or something is wrong with us. */
static int require_places(const int fds[WARDEN_FDS], struct fault *f)
{
	for (int i = 0; i < WARDEN_FDS; i++)
		if (fds[i] != WARDEN_PIDFD + i)
			return fault_set(f, EPROTO, "descriptor %d came as %d", WARDEN_PIDFD + i, fds[i]);
	return 0;
}

/*
 * Nobody hears us.  What was not recorded is found by its claim, and must not go on.  Whoever waits for the container goes
 * on at once, and must not find its session locked by a process that is leaving.
 */
static void abandon(struct guard *g, const int fds[WARDEN_FDS])
{
	g->claim.fd = -EBADF;
	for (int i = 1; i < WARDEN_FDS; i++)
		(void)fd_close(fds[i]);
	(void)syscall(SYS_pidfd_send_signal, fds[0], SIGKILL, NULL, 0);
}

/* From the moment that there is an order the container may run. */
static int serve(struct guard *g, struct fault *f)
{
	int fds[WARDEN_FDS], r;

	r = warden_channel_receive(WARDEN_CHANNEL, &g->order, fds, f);
	/* Until now the hook came first (oci/hook/hook-warden.c). */
	if (sched_getscheduler(0) == SCHED_BATCH)
		(void)sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
	if (r == 0)
		return 0;
	if (r > 0)
		r = require_places(fds, f);
	(void)close(WARDEN_CHANNEL);
	if (r >= 0)
		r = run(g, f);
	if (r < 0 && !g->ended)
		abandon(g, fds);
	return r;
}

int main(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_(guard_done) struct guard g = { .claim = CLAIM_NONE,
						 .held = WARDEN_HELD_NONE,
						 .keeper = WARDEN_BACKUP_NONE,
						 .oom = OOM_WATCH_NONE };
	struct stat st;
	sigset_t none;
	int r;

	if (fstat(WARDEN_CHANNEL, &st) < 0 || !S_ISSOCK(st.st_mode)) {
		fprintf(stderr, "custody-warden is started by custody-hook\n");
		return STATUS_USAGE;
	}
	(void)setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	umask(077);
	r = fd_sanitize(&f);
	if (r >= 0)
		r = detach(&f);
	if (r >= 0)
		r = warden_channel_say_ready(WARDEN_CHANNEL, &f);
	if (r >= 0)
		r = serve(&g, &f);
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}
