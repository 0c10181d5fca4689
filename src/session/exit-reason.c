/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/exit-reason.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/exit-status.h"
#include "layer/init-proto.h"

static const char *const reason_names[_EXIT_REASON_MAX] = {
	[EXIT_REASON_LOST] = "lost",
	[EXIT_REASON_EXITED] = "exited",
	[EXIT_REASON_SIGNALED] = "signaled",
	[EXIT_REASON_OOM] = "oom",
	[EXIT_REASON_TIMEOUT] = "timeout",
	[EXIT_REASON_PIDS_LIMIT] = "pids-limit",
	[EXIT_REASON_DISK_LIMIT] = "disk-limit",
	[EXIT_REASON_SECCOMP] = "seccomp",
	[EXIT_REASON_VIOLATION] = "violation",
	[EXIT_REASON_BUDGET] = "budget",
	[EXIT_REASON_INSPECTION] = "inspection",
	[EXIT_REASON_DENIED] = "denied",
	[EXIT_REASON_SETUP_FAILED] = "setup-failed",
	[EXIT_REASON_CANCELLED] = "cancelled",
	[EXIT_REASON_OPERATOR] = "operator",
	[EXIT_REASON_DEPTH_LIMIT] = "depth-limit",
};

const char *exit_reason_name(enum exit_reason r)
{
	return reason_names[r];
}

static const char *const source_names[] = {
	[EXIT_SOURCE_SUPERVISOR] = "supervisor",
	[EXIT_SOURCE_INIT] = "init",
	[EXIT_SOURCE_WAIT] = "wait",
	[EXIT_SOURCE_CGROUP] = "cgroup",
	[EXIT_SOURCE_WARDEN] = "warden",
	[EXIT_SOURCE_PIDFD] = "pidfd",
	[EXIT_SOURCE_PROC] = "proc",
	[EXIT_SOURCE_BACKUP] = "keeper",
	[EXIT_SOURCE_AUDIT] = "audit",
	[EXIT_SOURCE_SWEEP] = "sweep",
};

const char *exit_source_name(enum exit_source s)
{
	return source_names[s];
}

static int shell_code(int status)
{
	return WIFSIGNALED(status) ? STATUS_SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A report that differs from init's own exit status: init was killed, or it is not custody-init. */
static bool agrees(const struct exit_facts *f)
{
	return f->ended && WIFEXITED(f->init_status) && WEXITSTATUS(f->init_status) == shell_code(f->status);
}

/* The payload's own status if known, else that of the first process. */
static void set_status(const struct exit_facts *f, struct exit_verdict *v)
{
	if (!f->reported && !f->ended) {
		v->code = STATUS_FAILED;
		return;
	}
	v->code = shell_code(f->reported ? f->status : f->init_status);
	if (WIFSIGNALED(f->reported ? f->status : f->init_status))
		v->signal = WTERMSIG(f->reported ? f->status : f->init_status);
}

static enum exit_source own_source(const struct exit_facts *f)
{
	return f->foreign ? EXIT_SOURCE_WARDEN : EXIT_SOURCE_SUPERVISOR;
}

/* Exits that custody itself caused. */
static bool decide_own(const struct exit_facts *f, struct exit_verdict *v)
{
	v->source = own_source(f);
	if (f->stopped) {
		v->reason = EXIT_REASON_OPERATOR;
		v->code = STATUS_SIGNAL_BASE + (v->signal == SIGKILL ? SIGKILL : SIGTERM);
	} else if (f->cancelled) {
		v->reason = EXIT_REASON_CANCELLED;
		v->code = STATUS_SIGNAL_BASE + f->cancelled;
	} else if (f->denied) {
		v->reason = EXIT_REASON_DENIED;
		v->code = STATUS_UNAPPROVED;
		v->signal = 0;
	} else if (f->setup_failed) {
		v->reason = EXIT_REASON_SETUP_FAILED;
		v->code = STATUS_FAILED;
		v->signal = 0;
	} else if (f->side_lost) {
		v->reason = EXIT_REASON_LOST;
		v->code = STATUS_FAILED;
		v->signal = 0;
	} else if (f->violated) {
		v->reason = EXIT_REASON_VIOLATION;
		v->code = STATUS_HALTED;
	} else if (f->timed_out) {
		v->reason = EXIT_REASON_TIMEOUT;
		v->code = STATUS_TIMEOUT;
	} else if (f->disk_exceeded) {
		v->reason = f->too_deep ? EXIT_REASON_DEPTH_LIMIT : EXIT_REASON_DISK_LIMIT;
		v->code = STATUS_SIGNAL_BASE + SIGKILL;
	} else {
		return false;
	}
	return true;
}

/* Counters of the kernel. A refused fork counts only if the payload failed: many programs retry. */
static bool decide_counted(const struct exit_facts *f, struct exit_verdict *v)
{
	v->source = EXIT_SOURCE_CGROUP;
	if (f->counters.oom_kills > 0)
		v->reason = EXIT_REASON_OOM;
	else if (f->counters.pids_refused > 0 && v->code != 0)
		v->reason = EXIT_REASON_PIDS_LIMIT;
	else
		return false;
	return true;
}

/* Only the first process is known: a signal cannot be attributed to seccomp or a limit. */
static void decide_foreign(const struct exit_facts *f, struct exit_verdict *v)
{
	v->source = f->ended ? f->init_source : EXIT_SOURCE_WARDEN;
	if (!f->ended)
		v->reason = EXIT_REASON_LOST;
	else
		v->reason = v->signal ? EXIT_REASON_SIGNALED : EXIT_REASON_EXITED;
}

/* The command's own status; but an end that looks normal is none. */
static void decide_calls(const struct exit_facts *f, struct exit_verdict *v)
{
	if ((!f->over_budget && !f->inspection_failed) || v->reason != EXIT_REASON_EXITED)
		return;
	v->reason = f->inspection_failed ? EXIT_REASON_INSPECTION : EXIT_REASON_BUDGET;
	v->source = own_source(f);
}

static void decide_status(const struct exit_facts *f, struct exit_verdict *v)
{
	if (f->foreign) {
		decide_foreign(f, v);
		return;
	}
	v->source = EXIT_SOURCE_INIT;
	if (f->exec_failed && !f->reported) {
		v->reason = EXIT_REASON_EXITED;
		v->code = init_exec_status(f->exec_errno);
		v->signal = 0;
	} else if (!f->reported || !agrees(f)) {
		v->reason = EXIT_REASON_LOST;
		v->source = f->ended ? EXIT_SOURCE_WAIT : EXIT_SOURCE_SUPERVISOR;
		v->code = STATUS_FAILED;
	} else if (v->signal == SIGSYS && f->filter_killed) {
		/* A number alone is no proof: the payload can send every signal to itself. */
		v->reason = EXIT_REASON_SECCOMP;
	} else if (v->signal == SIGXFSZ && f->file_at_limit) {
		/* RLIMIT_FSIZE is the disk limit applied to a single file. */
		v->reason = EXIT_REASON_DISK_LIMIT;
		v->code = STATUS_SIGNAL_BASE + SIGKILL;
	} else if (f->typed && v->code == STATUS_SIGNAL_BASE + f->typed) {
		/* Also of a shell, which exits with this code when the signal killed its child. */
		v->reason = EXIT_REASON_CANCELLED;
	} else {
		v->reason = v->signal ? EXIT_REASON_SIGNALED : EXIT_REASON_EXITED;
	}
}

struct exit_verdict exit_decide(const struct exit_facts *f)
{
	struct exit_verdict v = { 0 };

	set_status(f, &v);
	if (!decide_own(f, &v) && !decide_counted(f, &v))
		decide_status(f, &v);
	decide_calls(f, &v);
	v.abnormal = v.reason != EXIT_REASON_EXITED || v.code != 0;
	return v;
}
