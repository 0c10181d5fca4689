/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <signal.h>

#include "base/fault.h"
#include "profile/profile.h"
#include "session/runtime-ops.h"
#include "session/session.h"
#include "subject/subject.h"
#include "cgroup/cgroup.h"
#include "warden/output-log.h"
#include "session/run-result.h"
#include "tty/terminal.h"
#include "warden/output-tail.h"

/*
 * Supervision of one run, from the first process to the last byte of output: docs/design/run.md.  The caller has
 * opened session and cgroup and removes them afterwards.
 */
#define WARDEN_FEW_PIDS 64 /* below this, nothing of ours is left in the cgroup when the limit is set */

struct exec_msg;

/* Further commands in the session, for `custody exec`. */
struct warden_exec_job {
	int fd; /* of exec_socket_make */
	/* Describes the session for a client; INIT, NS and LIMITS are the warden's own findings. */
	int (*describe)(void *arg, pid_t init, const uint64_t *ns, uint32_t limits, struct strbuf *out,
			struct fault *f);
	/* A further command was started, or ended: M is STARTED or ENDED. */
	void (*record)(void *arg, const struct exec_msg *m);
	void *arg;
};

/* What the session depends on outside of the container. */
enum warden_side_state {
	WARDEN_SIDE_OK,
	WARDEN_SIDE_OVER_BUDGET, /* the session asked for more than its budget */
	WARDEN_SIDE_INSPECTED,	 /* inspection found something in what the session sent */
	WARDEN_SIDE_LOST,	 /* it is gone: the session ends as lost */
	WARDEN_SIDE_OVER,	 /* it has ended as it should: it has nothing more to say */
};

struct warden_side {
	int fd;					   /* readable when STEP shall be called; -EBADF: none */
	enum warden_side_state (*step)(void *arg); /* never waits */
	void *arg;
};

#define WARDEN_SIDES 3 /* the broker, the observer of system calls, and custody-egress */

struct warden_job {
	const struct runtime_ops *ops;
	const struct session *session;
	const struct subject *subject;
	const struct cgroup *cgroup;
	struct cgroup_limits limits;	/* those that the cgroup can enforce */
	uint64_t time_s, disk;		/* 0 = none */
	const char *layer_dir;		/* overlay upper to be watched for the disk limit; may be NULL */
	const struct id_map *layer_ids; /* owners of its files, beside the caller; may be NULL */
	const char *layer_also;		/* counted with it; may be NULL */
	const int *keep_fd;		/* the creator finds it as CREATOR_KEEP_FD; NULL: none */
	const int *keep_also;		/* the same, as CREATOR_KEEP_ALSO_FD */
	const struct warden_side *sides[WARDEN_SIDES]; /* NULL: none */
	const int *
		filter_fd; /* custody-init installs this filter and passes its listener; NULL or negative: none */

	/* In the creator, a child: directories, mounts and config of the container (creator.h). */
	int (*prepare)(void *arg, struct runtime_request *rq, struct fault *f);
	/* In the supervisor, once, while the creator works.  May be NULL. */
	void (*creating)(void *arg, pid_t creator);
	/*
	 * In the supervisor, after `creating`: moves the creator, which waits, into the cgroup, if that was not ready when
	 * the creator was spawned.  May be NULL.
	 */
	int (*place)(void *arg, pid_t creator, struct fault *f);
	/* In the supervisor, once, when the first process exists and its layers are not proven yet. May be NULL. */
	void (*created)(void *arg);
	/*
	 * In the supervisor, when the creator exited without a report: kills the container that it may have created.
	 * Where there is a cgroup that does the same. May be NULL.
	 */
	void (*orphan)(void *arg);
	/* In the supervisor, with FILTER_FD, before the layers are compared: FD notifies, and stays the caller's. */
	int (*listener)(void *arg, int fd, struct fault *f);
	/* In the supervisor, when init was executed and has proven nothing yet: prepares its network namespace.  NULL: nothing. */
	int (*network)(void *arg, pid_t pid, struct fault *f);
	/* In the supervisor, when every layer is proven and right before GO.  Negative: nothing is executed. */
	int (*release)(void *arg, pid_t pid, const enum layer_state *layers, struct fault *f);
	/* In the supervisor, once, when the payload was executed.  May be NULL. */
	void (*started)(void *arg);
	/* In the supervisor, from the release on; returns in how many ms to call it again, -1: never. */
	int (*tick)(void *arg);
	void *arg;

	int stdio[3];
	const struct warden_exec_job *exec; /* NULL: no further command can be started */
	struct output_log *log;		    /* gets the output instead of stdio; NULL: stdio gets it */
	struct tail *tail;		    /* keeps the last output; may be NULL */
	struct terminal_plan terminal;
	bool interactive; /* a shell: typed interrupts never end it */
	bool quiet;
	bool json;     /* the caller writes a line of its own to standard output afterwards */
	int status_fd; /* JSON lines: created, started, exited; or -EBADF */

	uint64_t
		timeout_ms; /* for tests: instead of 60 s for the set-up and 5 s for init's last message; 0: those */
};

/*
 * Signals that stop a run stay pending from here on, and warden_run receives them: a caller that has created a
 * directory or a record must not be killed before the supervision starts, nor between supervision and removal. OVER:
 * the run has its result, and a late signal is dropped.
 */
int warden_hold_signals(sigset_t *ret_before, struct fault *f) _must_check_;
void warden_release_signals(const sigset_t *before, bool over);

/* Why the command of S cannot be executed inside, and what may help.  Heap; NULL on ENOMEM. */
char *warden_explain_exec(const struct subject *s, int err);

/*
 * Fills RET's exit, layers, detail and times.  A run that could not be set up is a result, not an error: negative
 * only when nothing was started; F has the reason.
 */
int warden_run(const struct warden_job *job, struct run_result *ret, struct fault *f) _must_check_;
