/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-recover.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/seam.h"
#include "run/run-prepare.h"
#include "oci/libcrun/libcrun-adapter.h"
#include "cgroup/cgroup.h"
#include "container/container-orphan.h"

struct recovery {
	struct run_ledger *record;
	const struct dirs *dirs;
};

void session_recover_container(const struct dirs *d, const char *id, int run_fd)
{
	struct runtime_request rq = { .id = id, .bundle = "/" };
	_cleanup_free_ char *root = NULL;

	if (faccessat(run_fd, RUN_PREPARE_STATE, F_OK, 0) < 0)
		return;
	if (asprintf(&root, "%s/sessions/%s/" RUN_PREPARE_STATE, d->run, id) < 0) {
		root = NULL;
		return;
	}
	rq.state_root = root;
	(void)adapter_ops.destroy(&rq, true, NULL);
}

/*
 * A dead supervisor's container.  Its cgroup names every process of it; a user's run may have none, then the runtime's
 * state in the session's directory names the first one.  One that another runtime runs is named by its info.
 */
static int release(void *arg, const char *id, int run_fd, struct fault *f)
{
	const struct recovery *v = arg;
	_cleanup_container_orphan_ struct container_orphan orphan = CONTAINER_ORPHAN_NONE;
	int r;

	session_recover_container(v->dirs, id, run_fd);
	seam("dead-found");
	r = container_orphan_end(run_fd, &orphan, f);
	if (r < 0)
		return r;
	v->record->orphan = r == 1 ? &orphan : NULL;
	v->record->run_dir = run_fd;
	r = cgroup_release(run_fd, f);
	seam("dead-released");
	if (r == 0)
		r = run_ledger_lost(v->record, id, f);
	v->record->orphan = NULL;
	v->record->run_dir = -EBADF;
	seam("dead-closed");
	return r;
}

int session_recover_dead(struct run_ledger *r, const struct dirs *d, struct fault *f)
{
	struct recovery v = { .record = r, .dirs = d };

	return session_sweep(d, release, &v, f);
}

int session_recover_start(struct run_ledger *r, const struct dirs *d, struct fault *f)
{
	struct recovery v = { .record = r, .dirs = d };

	return session_sweep_start(d, release, &v, f);
}
