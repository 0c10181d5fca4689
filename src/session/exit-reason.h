/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "cgroup/cgroup.h"

/* Why a session ended. Zero is "lost", so that an unset value is never taken for a normal exit. */
enum exit_reason {
	EXIT_REASON_LOST,
	EXIT_REASON_EXITED,
	EXIT_REASON_SIGNALED,
	EXIT_REASON_OOM,
	EXIT_REASON_TIMEOUT,
	EXIT_REASON_PIDS_LIMIT,
	EXIT_REASON_DISK_LIMIT,
	EXIT_REASON_SECCOMP,
	EXIT_REASON_VIOLATION,
	EXIT_REASON_BUDGET,
	EXIT_REASON_INSPECTION,
	EXIT_REASON_DENIED,
	EXIT_REASON_SETUP_FAILED,
	EXIT_REASON_CANCELLED,
	EXIT_REASON_OPERATOR,
	EXIT_REASON_DEPTH_LIMIT,
	_EXIT_REASON_MAX,
};

const char *exit_reason_name(enum exit_reason r); /* "lost", "exited", "pids-limit" ... */

/* The source of the exit reason. */
enum exit_source {
	EXIT_SOURCE_SUPERVISOR, /* the supervisor caused it, or no better source exists */
	EXIT_SOURCE_INIT,	/* custody-init's message, confirmed by its exit status */
	EXIT_SOURCE_WAIT,	/* the wait status of the first process */
	EXIT_SOURCE_CGROUP,	/* the kernel's counters */
	EXIT_SOURCE_WARDEN,	/* custody-warden caused it, or the status is unknown */
	EXIT_SOURCE_PIDFD,	/* the kernel's answer to custody-warden, which is not the parent */
	EXIT_SOURCE_PROC,	/* /proc/PID/stat of the zombie, read by custody-warden */
	EXIT_SOURCE_BACKUP,	/* custody-warden's second process, after the first was killed */
	EXIT_SOURCE_AUDIT,	/* custody-hook audit, after both were killed */
	EXIT_SOURCE_SWEEP,	/* recovery, after the supervisor was killed */
};
const char *exit_source_name(enum exit_source s); /* "init", "wait", "cgroup", "supervisor" ... */

/* Observations at the end of a session. */
struct exit_facts {
	bool foreign; /* container of another runtime: without custody-init, the first process's status counts */
	bool denied;	    /* its approval could not be consumed */
	bool setup_failed;  /* the payload was not executed */
	bool violated;	    /* custody killed it because a layer was missing */
	bool timed_out;	    /* custody sent SIGTERM at the time limit */
	bool disk_exceeded; /* custody killed it at the disk limit, or found the limit exceeded at the end */
	bool too_deep;	    /* with it: more levels of directories than can be counted */
	bool side_lost;	    /* custody killed it because its broker had exited */
	bool over_budget;   /* its broker refused a call beyond the budget */
	bool inspection_failed; /* its broker refused a call because of what it would have sent */
	bool file_at_limit;	/* custody found a file as large as RLIMIT_FSIZE in the upper */
	bool filter_killed; /* the kernel recorded that the system call filter killed a process of the run */
	int cancelled;	    /* signal that custody received, 0 = none */
	int typed;	    /* signal that was typed at the payload's terminal last, 0 = none */
	bool stopped;	    /* by `custody stop` */
	bool exec_failed;   /* init could not execute the command */
	int exec_errno;
	bool reported;		      /* init sent EXITED */
	int status;		      /* the payload's wait status, when reported */
	bool ended;		      /* the first process exited, and INIT_STATUS is known */
	int init_status;	      /* its wait status */
	enum exit_source init_source; /* FOREIGN: source of INIT_STATUS */
	struct cgroup_counters counters;
};

struct exit_verdict {
	enum exit_reason reason;
	enum exit_source source;
	int code;   /* exit status of `custody run` */
	int signal; /* that killed the payload, 0 = none */
	bool abnormal;
};

/* Pure. Precedence: exits that custody caused, then the kernel's counters, then the status. */
struct exit_verdict exit_decide(const struct exit_facts *facts);
