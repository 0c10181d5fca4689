/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/container-sweep.h"

#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/config.h"
#include "container/container-lost.h"
#include "container/container-orphan.h"
#include "ledger/ledger.h"
#include "session/session.h"

struct sweep {
	const struct dirs *dirs;
	const struct config *config;
	struct ledger *ledger;
};

static int close_orphan(void *arg, const char *id, int run_fd, struct fault *f)
{
	const struct sweep *s = arg;
	_cleanup_container_orphan_ struct container_orphan o = CONTAINER_ORPHAN_NONE;
	int r = container_orphan_end(run_fd, &o, f);
	struct container_lost lost = { .dirs = s->dirs,
				       .config = s->config,
				       .session = id,
				       .dir = run_fd,
				       .source = EXIT_SOURCE_SWEEP };

	/* An error, so that it stays. */
	if (r == 0)
		return fault_set(f, EBUSY, "session '%s' is a run of custody", id);
	if (r < 0)
		return r;
	lost.held = WARDEN_HELD_NONE;
	lost.held.tree = o.tree;
	lost.held.upper = o.upper;
	lost.why = o.why;
	r = container_lost_close(&lost, s->ledger, f);
	return r < 0 ? r : 0;
}

static void sweep(enum lane lane)
{
	_cleanup_dirs_ struct dirs dirs = { 0 };
	_cleanup_config_ struct config *config = NULL;
	_cleanup_ledger_ struct ledger *l = NULL;
	struct sweep s = { .dirs = &dirs };

	if (dirs_load_lane(lane, &dirs, NULL) < 0 || config_load(&dirs, &config, NULL) < 0 ||
	    ledger_open(dirs.state, NULL, &l, NULL, NULL) < 0)
		return;
	s.config = config;
	s.ledger = l;
	/* What remains is swept again by the next container, `custody run` or `custody recover`. */
	(void)!session_sweep_dead(&dirs, close_orphan, &s, NULL);
}

void container_sweep_start(enum lane lane)
{
	_cleanup_dirs_ struct dirs dirs = { 0 };
	int status;
	pid_t pid;

	if (dirs_load_lane(lane, &dirs, NULL) < 0 || !session_is_any_dead(&dirs))
		return;
	pid = fork();
	if (pid == 0) {
		/* A grandchild, which init reaps. */
		if (fork() == 0 && syscall(SYS_close_range, 3, UINT_MAX, 0) == 0)
			sweep(lane);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}
