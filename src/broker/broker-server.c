/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit-status.h"
#include "base/fd.h"
#include "base/process.h"
#include "broker/broker-impl.h"

#define MS UINT64_C(1000000)
#define ACCEPTS 16	/* of one round, so that the clients in it have their turn */
#define DESCRIPTORS 256 /* a connection has four with its tool; poll() wants as many as it looks at, P_N */
#define FULL_MS UINT64_C(100)

enum { P_LINK, P_LISTEN, P_CLIENTS, P_N = P_CLIENTS + BROKER_CLIENTS * BROKER_POLLS };

/* Until the next reply is due, to the nanosecond: a rounded wait would add the time of the decision.  NULL: never. */
static const struct timespec *timeout(const struct broker_server *s, struct timespec *ret)
{
	const int sync = ledger_sync_due_ms(s->ledger);
	uint64_t first = sync < 0 ? 0 : clock_boot_ns() + (uint64_t)sync * MS, now;

	if (s->accept_ns && (!first || s->accept_ns < first))
		first = s->accept_ns;
	for (size_t i = 0; i < BROKER_CLIENTS; i++) {
		const uint64_t due = broker_client_due(&s->clients[i]);

		if (due && (!first || due < first))
			first = due;
	}
	if (!first)
		return NULL;
	now = clock_boot_ns();
	now = first <= now ? 0 : first - now;
	*ret = (struct timespec){ .tv_sec = (time_t)(now / (1000 * MS)),
				  .tv_nsec = (long)(now % (1000 * MS)) };
	return ret;
}

static void on_time(struct broker_server *s)
{
	(void)!broker_pending_write(s, LEDGER_OBSERVED, NULL);
	for (size_t i = 0; i < BROKER_CLIENTS; i++) {
		const uint64_t due = broker_client_due(&s->clients[i]);

		if (due && due <= clock_boot_ns())
			broker_client_on_time(s, &s->clients[i]);
	}
	if (ledger_sync_due_ms(s->ledger) == 0)
		(void)!ledger_sync(s->ledger, NULL);
}

/* Otherwise a client that leaves before its refusal is sent could ask at any rate. */
static void pause_accepting(struct broker_server *s)
{
	if (s->refused > BROKER_REFUSALS_RECORDED || s->lists > BROKER_LISTS_MAX)
		s->accept_ns = clock_boot_ns() + BROKER_REFUSED_MS * MS;
}

static void accept_clients(struct broker_server *s)
{
	pause_accepting(s);
	for (int n = 0; n < ACCEPTS; n++) {
		int fd = accept4(s->job->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		/* No descriptor or memory for it: it stays in the queue, and poll() would report it at once. */
		if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			s->accept_ns = clock_boot_ns() + FULL_MS * MS;
		if (fd < 0)
			return;
		broker_client_open(s, fd);
	}
}

/* False: the session is over. */
static bool step(struct broker_server *s)
{
	struct pollfd p[P_N];
	struct timespec wait;

	p[P_LINK] = (struct pollfd){ .fd = s->link, .events = POLLIN };
	if (s->accept_ns <= clock_boot_ns())
		s->accept_ns = 0;
	p[P_LISTEN] = (struct pollfd){ .fd = s->accept_ns ? -1 : s->job->listen_fd, .events = POLLIN };
	for (size_t i = 0; i < BROKER_CLIENTS; i++)
		broker_client_poll(&s->clients[i], p + P_CLIENTS + i * BROKER_POLLS);
	if (ppoll(p, P_N, timeout(s, &wait), NULL) < 0)
		return errno == EINTR;
	if (p[P_LINK].revents)
		return false;
	for (size_t i = 0; i < BROKER_CLIENTS; i++)
		broker_client_step(s, &s->clients[i], p + P_CLIENTS + i * BROKER_POLLS);
	if (p[P_LISTEN].revents)
		accept_clients(s);
	on_time(s);
	broker_pending_send(s);
	return true;
}

/* Calls that run get a record; their tools are killed. */
static void end(struct broker_server *s)
{
	/* All of them first: one that cannot be killed delays the end once, not once for each. */
	for (size_t i = 0; i < BROKER_CLIENTS; i++)
		broker_process_kill(&s->clients[i].process);
	for (size_t i = 0; i < BROKER_CLIENTS; i++) {
		struct broker_client *c = &s->clients[i];

		if (c->state == BROKER_RUNNING && !c->preparing)
			broker_record_result(s, c->tool, c->call, "session-over",
					     (clock_boot_ns() - c->line_ns) / MS);
		broker_client_close(c);
	}
	broker_credentials_end(s);
	broker_record_end(s);
}

/* The descriptors of the supervisor: those of the session's files, its terminal, and the locks of its claims. */
static int leave_supervisor(struct broker_job *job, int *link)
{
	int keep[] = { fcntl(job->listen_fd, F_DUPFD_CLOEXEC, 16), fcntl(*link, F_DUPFD_CLOEXEC, 16),
		       fcntl(job->state_fd, F_DUPFD_CLOEXEC, 16), open("/dev/null", O_RDWR | O_CLOEXEC) };

	if (keep[0] < 0 || keep[1] < 0 || keep[2] < 0 || keep[3] < 0)
		return -errno;
	for (int i = 0; i < 3; i++) {
		if (dup2(keep[3], i) < 0 || dup3(keep[i], 3 + i, O_CLOEXEC) < 0)
			return -errno;
	}
	if (close_range(6, ~0U, 0) < 0)
		return -errno;
	job->listen_fd = 3;
	*link = 4;
	job->state_fd = 5;
	(void)setsid();
	(void)prctl(PR_SET_NAME, "custody-broker");
	(void)prctl(PR_SET_DUMPABLE, 0);
	process_forbid_core();
	process_restore_signals();
	process_ignore_sigpipe();
	return 0;
}

/* The caller's limit may be for the command; a broker that cannot look at its connections would end with the first one. */
static int raise_limit(struct fault *f)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return fault_errno(f, errno, "limit of open files");
	if (l.rlim_cur >= DESCRIPTORS)
		return 0;
	l.rlim_cur = DESCRIPTORS;
	if (l.rlim_max < DESCRIPTORS)
		l.rlim_max = DESCRIPTORS;
	return setrlimit(RLIMIT_NOFILE, &l) == 0 ? 0
						 : fault_errno(f, errno,
							       "the broker needs %d open files: raise the "
							       "limit (ulimit -n %d), or remove 'broker' "
							       "from the profile",
							       DESCRIPTORS, DESCRIPTORS);
}

static int open_server(struct broker_server *s, struct fault *f)
{
	const struct ledger_run *run = s->job->run;
	const struct broker_peers_of of = { .init = s->job->init,
					    .cgroup = s->job->cgroup,
					    .pid_shared = s->job->pid_shared };
	int r;

	s->values = (struct broker_values){ .session = run->session,
					    .agent = run->agent,
					    .worker = run->worker,
					    .issue = run->issue,
					    .lane = run->lane };
	for (size_t i = 0; i < BROKER_CLIENTS; i++)
		s->clients[i] = (struct broker_client){ .fd = -EBADF, .process = BROKER_PROCESS_NONE };
	r = raise_limit(f);
	if (r == 0)
		r = ledger_open(s->job->dirs->state, NULL, &s->ledger, NULL, f);
	if (r == 0)
		r = broker_peers_init(&s->peers, &of, f);
	return r < 0 ? r : broker_credentials_start(s, f);
}

void broker_serve(const struct broker_job *given, int link)
{
	struct broker_job job = *given;
	struct broker_server s = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	sigset_t none;
	int r;

	(void)sigemptyset(&none);
	r = leave_supervisor(&job, &link);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (r < 0)
		_exit(STATUS_FAILED);
	s.job = &job;
	s.link = link;
	r = open_server(&s, &f);
	/* The first message: ready, or the reason. */
	(void)!send(link, r < 0 ? fault_text(&f) : "", r < 0 ? strlen(fault_text(&f)) + 1 : 1, MSG_NOSIGNAL);
	if (r < 0)
		_exit(STATUS_FAILED);
	while (step(&s))
		;
	end(&s);
	_exit(STATUS_OK);
}
