/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "cgroup/cgroup.h"

/* Why a session ended.  Zero is the value that nobody may mistake for a normal end. */
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
	_EXIT_REASON_MAX,
};

const char *exit_reason_name(enum exit_reason r); /* "lost", "exited", "pids-limit" ... */

/* Who proved it. */
enum exit_source {
	EXIT_SOURCE_SUPERVISOR, /* we did it ourselves, or nobody knows better */
	EXIT_SOURCE_INIT,	/* custody-init's message, confirmed by its own end */
	EXIT_SOURCE_WAIT,	/* the wait status of the first process */
	EXIT_SOURCE_CGROUP,	/* the kernel's counters */
	EXIT_SOURCE_WARDEN,	/* custody-warden did it itself, or the status is unknown */
	EXIT_SOURCE_PIDFD,	/* the kernel's answer to custody-warden, which is not the parent */
	EXIT_SOURCE_PROC,	/* /proc/PID/stat of the zombie, read by custody-warden */
	EXIT_SOURCE_BACKUP,	/* custody-warden's second process, after the first was killed */
	EXIT_SOURCE_AUDIT,	/* custody-hook audit, after both were killed */
	EXIT_SOURCE_SWEEP,	/* recovery, after the supervisor was killed */
};
const char *exit_source_name(enum exit_source s); /* "init", "wait", "cgroup", "supervisor" ... */

/* What was seen of the end of a session. */
struct exit_facts {
	bool foreign; /* container of another runtime: no init reports, the first process's status counts */
	bool denied;  /* its approval could not be consumed */
	bool setup_failed;  /* nothing was executed */
	bool timed_out;	    /* we sent TERM because time was up */
	bool disk_exceeded; /* we killed it because of its size, or found it too large at the end */
	int cancelled;	    /* the signal that we were sent, 0 = none */
	bool stopped;	    /* by `custody stop` */
	bool exec_failed;   /* init could not execute the command */
	int exec_errno;
	bool reported;		      /* init's EXITED */
	int status;		      /* the payload's wait status, when reported */
	bool ended;		      /* the first process exited, and INIT_STATUS is known */
	int init_status;	      /* its wait status */
	enum exit_source init_source; /* FOREIGN: how INIT_STATUS is known */
	struct cgroup_counters counters;
};

struct exit_verdict {
	enum exit_reason reason;
	enum exit_source source;
	int code;   /* what `custody run` exits with */
	int signal; /* that ended the payload, 0 = none */
	bool abnormal;
};

/* Pure.  Several hold: what we did ourselves first, then the kernel's counters, then the status. */
struct exit_verdict exit_decide(const struct exit_facts *facts);
