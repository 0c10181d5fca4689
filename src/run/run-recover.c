/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "base/seam.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "container/container-orphan.h"
#include "ledger/ledger-audit.h"
#include "oci/libcrun/libcrun-adapter.h"
#include "run/run-lost.h"
#include "run/run-prepare.h"
#include "session/session-end.h"
#include "session/session-process.h"
#include "session/session.h"
#include "state/sandbox-log.h"

void run_recover_container(const struct dirs *d, const char *id, int run_fd)
{
	struct runtime_request rq = { .id = id, .bundle = "/" };
	_cleanup_free_ char *root = NULL;

	session_process_kill(run_fd);
	if (faccessat(run_fd, RUN_PREPARE_STATE, F_OK, 0) < 0)
		return;
	if (asprintf(&root, "%s/sessions/%s/" RUN_PREPARE_STATE, d->run, id) < 0) {
		root = NULL;
		return;
	}
	rq.state_root = root;
	(void)adapter_ops.destroy(&rq, true, NULL);
}

/* NAMES are those of the lost session's intent. */
static void capture_lost(void *arg, const struct ledger_run *names, bool started, struct ledger_end *end)
{
	struct run_lost *lost = arg;
	_cleanup_fault_ struct fault f = { 0 };
	const struct sandbox_line l = { .agent = names->agent,
					.worker = names->worker,
					.operation = "end",
					.command = names->argv,
					.status = end->reason,
					.redact = names->redact };

	/* It had no files of its own: those of its session are that session's. */
	if (str_eq(names->action, LEDGER_ACTION_EXEC))
		return;
	if (lost->config)
		run_lost_capture(lost, names, started, end);
	if (lost->dirs && names->cwd && sandbox_log_write_worktree(lost->dirs, names->cwd, &l, &f) < 0)
		log_error("%s; the ledger has the record", fault_text(&f));
}

/*
 * The supervisor of session ID is dead and its container as well; called before the session's directories are removed.
 * RUN_DIR is its runtime directory, -EBADF: missing; ORPHAN: container of another runtime, or NULL.
 */
static int close_lost(const struct decision *d, const char *id, int run_dir,
		      const struct container_orphan *orphan, struct fault *f)
{
	_cleanup_free_ char *sessions = path_join(d->dirs->state, "sessions"),
			    *name = path_join(id, AUDIT_NAME);
	_cleanup_close_ int fd = -EBADF;
	_cleanup_run_lost_ struct run_lost lost = {
		.dirs = d->dirs, .config = d->config, .orphan = orphan, .run_dir = run_dir
	};
	struct ledger_end end = session_end_lost(EXIT_SOURCE_SWEEP);
	const struct claim_end story = { .end = &end, .before = capture_lost, .arg = &lost };
	struct ledger_mark mark;
	int r;

	if (!sessions || !name)
		return fault_errno(f, ENOMEM, "session '%s'", id);
	fd = open(sessions, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && audit_read_mark(fd, name, &mark) == 0)
		end.audit = &mark;
	r = claim_close(d->dirs->state, d->ledger, id, &story, f);
	return r < 0 ? r : 0;
}

int run_recover_claims(const struct decision *d, struct fault *f)
{
	_cleanup_free_ char *sessions = path_join(d->dirs->run, "sessions");
	_cleanup_close_ int fd = sessions ? open(sessions, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -EBADF;
	_cleanup_strv_ char **names = NULL;
	int r;

	r = claim_list(d->dirs->state, &names, f);
	for (char **name = names; name && *name; name++) {
		int one;

		if (strcmp(*name, d->run.session) == 0 ||
		    (fd >= 0 && faccessat(fd, *name, F_OK, AT_SYMLINK_NOFOLLOW) == 0))
			continue;
		/* The first failure is reported; the other claims are closed all the same. */
		one = close_lost(d, *name, -EBADF, NULL, r < 0 ? NULL : f);
		r = r < 0 ? r : one;
	}
	return r;
}

/*
 * The container of a dead supervisor.  Its cgroup lists all its processes; a user's run may have none, then a file of the
 * session's directory names the first process, or the runtime's state in it.  A container of another runtime is named by its info.
 */
static int recover(void *arg, const char *id, int run_fd, struct fault *f)
{
	const struct decision *d = arg;
	_cleanup_container_orphan_ struct container_orphan orphan = CONTAINER_ORPHAN_NONE;
	bool foreign;
	int r;

	run_recover_container(d->dirs, id, run_fd);
	seam("dead-found");
	r = container_orphan_end(run_fd, &orphan, f);
	if (r < 0)
		return r;
	foreign = r == 1;
	r = cgroup_release(run_fd, f);
	seam("dead-released");
	if (r == 0)
		r = close_lost(d, id, run_fd, foreign ? &orphan : NULL, f);
	seam("dead-closed");
	return r;
}

int run_recover_sessions(const struct decision *d, struct fault *f)
{
	return session_sweep(d->dirs, recover, (void *)d, f);
}

int run_recover_start(const struct decision *d, struct fault *f)
{
	return session_sweep_start(d->dirs, recover, (void *)d, f);
}
