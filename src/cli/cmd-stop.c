/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "cli/session-print.h"
#include "cli/output.h"
#include "base/exit-status.h"
#include "ledger/ledger.h"
#include "session/stop-signal.h"

/* Time after the grace for evidence and records; then the supervisor counts as stuck. */
#define PATIENCE_MS (120 * 1000)
#define LOOK_MS 500 /* how often the state of the supervisor is read while waiting */

/* The stop is recorded, and synced, before the signal is sent. */
static int record(const struct command_call *c, const struct session_note *n, uint32_t grace_s,
		  struct fault *f)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const struct ledger_event e = {
		.kind = "operator.stop", .session = n->session, .agent = n->agent, .worker = n->worker, .d = d
	};
	int r;

	jdoc_set(d, "by", ledger_text(c->dirs.user));
	jdoc_set_int(d, "uid", geteuid());
	if (grace_s != STOP_GRACE_PROFILE)
		jdoc_set_int(d, "grace_s", grace_s);
	r = ledger_open(c->dirs.state, NULL, &l, NULL, f);
	if (r == 0)
		r = ledger_append(l, &e, 1, LEDGER_DECIDED, NULL, f);
	return r < 0 ? fault_wrap(f, r, "session '%s' not stopped: cannot write to the ledger", n->session)
		     : 0;
}

/* 1: sent; 0: the session exited concurrently. */
static int send_stop(int pidfd, uint32_t grace_s, struct fault *f)
{
	siginfo_t si = { .si_signo = STOP_SIGNAL, .si_code = SI_QUEUE };

	si.si_pid = getpid();
	si.si_uid = getuid();
	si.si_value.sival_int = stop_signal_value(grace_s);
	if (syscall(SYS_pidfd_send_signal, pidfd, STOP_SIGNAL, &si, 0) == 0)
		return 1;
	return errno == ESRCH ? 0 : fault_errno(f, errno, "signal the supervisor");
}

/* Third word of /proc/PID/stat: T is stopped by a signal, t by a debugger. */
static bool is_stopped(pid_t pid)
{
	_cleanup_close_ int fd = -EBADF;
	char path[32], text[512];
	const char *end;
	ssize_t len;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[len > 0 ? len : 0] = '\0';
	/* The name before it may hold anything, parentheses included. */
	end = strrchr(text, ')');
	return end && str_starts(end, ") ") && (end[2] == 'T' || end[2] == 't');
}

/* A stopped process takes no signal but KILL and CONT. */
static void explain_stopped(const struct session_note *n)
{
	fprintf(stderr,
		PACKAGE_NAME
		" stop: session '%s' waits for its supervisor %d, which is stopped (SIGSTOP or a "
		"debugger): kill -CONT %d continues it, and it stops the run; or: kill -KILL %d, then: "
		"custody recover\n",
		n->session, (int)n->pid, (int)n->pid, (int)n->pid);
}

static int wait_for(int pidfd, const struct session_note *n, uint32_t grace_s, struct fault *f)
{
	const uint64_t grace_ms = grace_s == STOP_GRACE_PROFILE ? 0 : (uint64_t)grace_s * 1000;
	const uint64_t until = clock_boot_ns() / 1000000 + grace_ms + PATIENCE_MS;
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	bool explained = false;

	for (;;) {
		uint64_t now = clock_boot_ns() / 1000000;
		int ready =
			now >= until ? 0 : poll(&p, 1, until - now > LOOK_MS ? LOOK_MS : (int)(until - now));

		if (ready > 0)
			return 0;
		/* The descriptor has no event for it. */
		if (!explained && is_stopped(n->pid)) {
			explain_stopped(n);
			explained = true;
		}
		if (ready < 0 && errno != EINTR)
			return fault_errno(f, errno, "wait for the exit of the supervisor");
		if (ready == 0 && clock_boot_ns() / 1000000 >= until)
			return fault_set(f, ETIMEDOUT,
					 "session '%s' does not exit, its supervisor %d does not respond: "
					 "kill -KILL %d, then: custody recover",
					 n->session, (int)n->pid, (int)n->pid);
	}
}

/* The session exited, or was stopped, before this stop. */
static int report_exited(const struct session_note *n)
{
	fprintf(stderr, PACKAGE_NAME " stop: session '%s' %s\n", n->session,
		n->state == SESSION_LOST ? "lost its supervisor: run custody recover" : "has exited already");
	return STATUS_NO;
}

/* custody-warden only watches the container; its runtime must stop it. */
static int report_foreign(const struct session_note *n)
{
	_cleanup_free_ char *id = str_escape(n->container);

	fprintf(stderr,
		PACKAGE_NAME " stop: session '%s' is container '%s' of another runtime: stop it there, for "
			     "example with: crun kill %s KILL\n",
		n->session, id ? id : "?", id ? id : "?");
	return STATUS_NO;
}

static int print_end(struct command_call *c, const char *id, struct fault *f)
{
	_cleanup_session_note_ struct session_note n = { 0 };
	_cleanup_jdoc_ struct jdoc *d = NULL;
	int r;

	if (!c->json) {
		puts(id);
		return STATUS_OK;
	}
	r = session_note_find(&c->dirs, id, &n, f);
	if (r < 0)
		return r;
	d = jdoc_new_object();
	jdoc_set_int(d, "schema_version", 1);
	jdoc_set(d, "session", session_print_describe(&n));
	r = output_print(d, f);
	return r < 0 ? r : STATUS_OK;
}

int cmd_stop(struct command_call *c, struct fault *f)
{
	const struct session_print_ask ask = {
		.verb = "stop", .word = c->args[0], .action = "stop", .fit = SESSION_FIT_RUNNING
	};
	_cleanup_session_note_ struct session_note n = { 0 };
	_cleanup_close_ int pidfd = -EBADF;
	const uint32_t grace_s = c->set_grace ? (uint32_t)c->grace_s : STOP_GRACE_PROFILE;
	int status, r;

	r = session_print_find(&c->dirs, &ask, &n, &status, f);
	if (r < 0 || status != STATUS_OK)
		return r < 0 ? r : status;
	if (n.state != SESSION_RUNNING)
		return report_exited(&n);
	if (n.container)
		return report_foreign(&n);
	pidfd = session_note_watch(&c->dirs, &n, f);
	if (pidfd == -ESRCH) {
		fault_done(f);
		return report_exited(&n);
	}
	r = pidfd < 0 ? pidfd : record(c, &n, grace_s, f);
	if (r == 0)
		r = send_stop(pidfd, grace_s, f);
	if (r <= 0)
		return r < 0 ? r : report_exited(&n);
	r = wait_for(pidfd, &n, grace_s, f);
	return r < 0 ? r : print_end(c, n.session, f);
}
