/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/container-exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/pidfd-status.h"
#include "ledger/ledger-claim.h"
#include "session/session-end.h"
#include "warden/container-facts.h"
#include "warden/container-watch.h"
#include "warden/parent-status.h"

#define NS_PER_MS UINT64_C(1000000)
#define STATUS_MS 10000 /* how long a parent may leave one unreaped before its end counts as lost */
#define FINISH_MS 1000	/* how long killed ones may take: delete waits for the record of the container */

#define PROVEN (LAYER_BIT(LAYER_SECCOMP) | LAYER_BIT(LAYER_NO_NEW_PRIVS))

/* The process waits, and executes its program after our answer. */
static int begin_proof(const struct container_watch *w, struct container_exec *e)
{
	_cleanup_container_facts_ struct container_facts x = { 0 };
	int r;

	if (!w->request.isolate || !(w->request.layers & PROVEN))
		return 0;
	e->procfd = container_procfd_open(e->pidfd, e->pid, NULL);
	if (e->procfd < 0)
		return e->procfd;
	r = container_facts_read_start(e->procfd, &x, NULL);
	if (r < 0)
		return r;
	e->proven.waiting = w->request.layers & LAYER_BIT(LAYER_SECCOMP);
	e->proven.exe_seen = x.exe_seen;
	e->proven.exe_dev = x.exe_dev;
	e->proven.exe_ino = x.exe_ino;
	memcpy(e->proven.name, x.status.name, sizeof(e->proven.name));
	return 0;
}

static void end_proof(struct container_exec *e)
{
	e->procfd = fd_close(e->procfd);
	container_proven_done(&e->proven);
}

/* One that exited before it could be read has no layers any more. */
static void prove(const struct container_watch *w, struct container_exec *e)
{
	const struct container_proof proof = { .procfd = e->procfd,
					       .pidfd = e->pidfd,
					       .phase = CONTAINER_AFTER_START,
					       .layers = w->request.layers & PROVEN,
					       .optional = w->request.optional };
	_cleanup_fault_ struct fault why = { 0 };
	int r = container_prove(&proof, &e->proven, &why);

	if (r == -EAGAIN) {
		e->tries++;
		return;
	}
	e->violated = r < 0 && r != -ESRCH;
	if (e->violated)
		(void)syscall(SYS_pidfd_send_signal, e->pidfd, SIGKILL, NULL, 0);
	end_proof(e);
}

void container_exec_look(struct container_watch *w)
{
	for (size_t i = 0; i < w->execs.n; i++)
		if (w->execs.at[i].procfd >= 0)
			prove(w, &w->execs.at[i]);
}

const char *container_exec_add(struct container_watch *w, const struct warden_call *m,
			       int fds[WARDEN_CALL_FDS])
{
	struct container_execs *x = &w->execs;
	struct container_exec e = { .pid = m->pid,
				    .pidfd = fds[1],
				    .claim = fds[0],
				    .parent = fds[2],
				    .procfd = -EBADF,
				    .began_ns = clock_boot_ns() };
	struct stat st;

	if (!w->started || w->violated)
		return "the container does not run";
	if (e.claim < 0 || e.pidfd < 0 || m->pid <= 0 || strlen(m->exec) != SESSION_ID_SIZE - 1)
		return "custody-warden does not know this message";
	if (x->n == CONTAINER_EXECS)
		return "more than 64 commands run in this container";
	/* The caller did not wait for us, and has recorded a refusal. */
	if (fstat(e.claim, &st) < 0 || st.st_nlink == 0)
		return "the command was refused";
	if (begin_proof(w, &e) < 0) {
		end_proof(&e);
		return "the layers of the process cannot be read";
	}
	memcpy(e.id, m->exec, sizeof(e.id));
	x->at[x->n++] = e;
	fds[0] = fds[1] = fds[2] = -EBADF;
	return NULL;
}

void container_exec_poll(const struct container_execs *x, struct pollfd *p)
{
	for (size_t i = 0; i < CONTAINER_EXECS; i++) {
		const struct container_exec *e = i < x->n ? &x->at[i] : NULL;

		p[i] = (struct pollfd){ .fd = e ? e->pidfd : -1, .events = POLLIN };
		if (e && e->parent >= 0)
			p[i].fd = e->parent;
		/* One that has exited stays readable: only its parent's wait, which is a hangup, is awaited. */
		else if (e && e->until_ns)
			p[i].events = 0;
	}
}

int container_exec_due_ms(const struct container_execs *x)
{
	uint64_t now = clock_boot_ns();
	int due = -1;

	for (size_t i = 0; i < x->n; i++) {
		const uint64_t until = x->at[i].until_ns;
		int left = until > now ? (int)((until - now) / NS_PER_MS) + 1 : 0;

		if (until && (due < 0 || left < due))
			due = left;
		if (x->at[i].procfd >= 0 && (due < 0 || due > container_prove_pause_ms(x->at[i].tries)))
			due = container_prove_pause_ms(x->at[i].tries);
	}
	return due;
}

/* False: not known yet. */
static bool find_status(const struct container_exec *e, struct exit_facts *facts)
{
	if (e->waited) {
		facts->init_source = EXIT_SOURCE_WAIT;
		facts->init_status = e->status;
		facts->ended = true;
		return true;
	}
	/* The zombie had this pid only if it is not reaped even now. */
	facts->init_source = EXIT_SOURCE_PROC;
	facts->ended = pidfd_end_zombie(e->pid, &facts->init_status) && pidfd_is_unreaped(e->pidfd);
	if (facts->ended)
		return true;
	facts->init_source = EXIT_SOURCE_PIDFD;
	facts->ended = pidfd_end_status(e->pidfd, &facts->init_status);
	return facts->ended;
}

static void record(struct container_watch *w, struct container_exec *e, const struct exit_facts *facts)
{
	const struct exit_verdict v = exit_decide(facts);
	const struct ledger_end end = session_end_of(&v, (clock_boot_ns() - e->began_ns) / NS_PER_MS);
	const struct ledger_run run = { .action = LEDGER_ACTION_EXEC,
					.session = e->id,
					.within = w->request.session,
					.lane = lane_name(w->request.lane) };
	struct claim c = { .dirfd = fcntl(w->decision.claim.dirfd, F_DUPFD_CLOEXEC, 3),
			   .fd = TAKE_FD(e->claim) };

	memcpy(c.session, e->id, sizeof(c.session));
	/* Recovery records it if the ledger does not take it now. */
	if (ledger_end(w->decision.ledger, w->dirs.state, &run, &end, NULL) < 0)
		claim_done(&c);
	else
		claim_drop(&c);
	e->pidfd = fd_close(e->pidfd);
	parent_status_release(&e->parent);
	end_proof(e);
}

/* True: recorded. */
static bool settle(struct container_watch *w, struct container_exec *e, bool final)
{
	struct exit_facts facts = { .foreign = true, .violated = e->violated };

	if (!find_status(e, &facts) && !final) {
		if (e->until_ns == 0)
			e->until_ns = clock_boot_ns() + STATUS_MS * NS_PER_MS;
		return false;
	}
	record(w, e, &facts);
	return true;
}

/* True: recorded.  REVENTS: of the descriptor that container_exec_poll chose. */
static bool step(struct container_watch *w, struct container_exec *e, short revents)
{
	const bool over = e->until_ns && clock_boot_ns() >= e->until_ns;

	if (!over && !revents)
		return false;
	if (e->parent < 0)
		return settle(w, e, over || (revents & POLLHUP));
	e->waited = parent_status_read(&e->parent, 0, &e->status);
	/* Without it, custody-parent was killed, and the command may still run: its pidfd says when it has ended. */
	return e->waited && settle(w, e, true);
}

void container_exec_step(struct container_watch *w, const struct pollfd *p)
{
	struct container_execs *x = &w->execs;

	/* From the end: one that is over is replaced by the last one. */
	for (size_t i = x->n; i > 0; i--)
		if (step(w, &x->at[i - 1], p[i - 1].revents))
			x->at[i - 1] = x->at[--x->n];
}

/* With a PID namespace of the container's own the kernel has killed it. */
static int left_ms(uint64_t until_ns)
{
	const uint64_t now = clock_boot_ns();

	return until_ns > now ? (int)((until_ns - now) / NS_PER_MS) : 0;
}

static void kill_one(struct container_exec *e, uint64_t until_ns)
{
	struct pollfd p = { .fd = e->pidfd, .events = POLLIN };

	(void)syscall(SYS_pidfd_send_signal, e->pidfd, SIGKILL, NULL, 0);
	while (poll(&p, 1, left_ms(until_ns)) < 0 && errno == EINTR)
		;
	e->waited = parent_status_read(&e->parent, left_ms(until_ns), &e->status);
}

void container_exec_finish(struct container_watch *w)
{
	const uint64_t until_ns = clock_boot_ns() + FINISH_MS * NS_PER_MS;
	struct container_execs *x = &w->execs;

	while (x->n > 0) {
		struct container_exec *e = &x->at[x->n - 1];

		kill_one(e, until_ns);
		(void)settle(w, e, true);
		x->n--;
	}
}

void container_exec_done(struct container_execs *x)
{
	for (; x->n > 0; x->n--) {
		(void)fd_close(x->at[x->n - 1].pidfd);
		(void)fd_close(x->at[x->n - 1].claim);
		parent_status_release(&x->at[x->n - 1].parent);
		end_proof(&x->at[x->n - 1]);
	}
}
