/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "tty/terminal.h"
#include "run/run-prepare.h"
#include "run/run-impl.h"
#include "session/session-upper.h"
#include "subject/subject-digest.h"
#include "layer/init-proto.h"

static void describe_worktree(const struct subject *s)
{
	_cleanup_free_ char *tree = str_escape(s->worktree ? s->worktree : "empty, in memory"),
			    *inside = str_escape(subject_work_target(s)), *cwd = str_escape(s->cwd);

	if (tree && inside && cwd)
		log_info("worktree %s (%s), inside at %s, starts in %s", tree,
			 profile_worktree_word(s->profile), inside, cwd);
}

static void describe_verdict(const struct run_plan *d)
{
	const struct verdict *v = d->verdict;
	char digest[SUBJECT_DIGEST_SIZE] = "(the lane has no digest key yet: 'custody check' creates it)";

	if (d->document)
		subject_digest_to_text(&d->digest, digest);
	log_info("lane %s, digest %s", lane_name(d->dirs.lane), digest);
	log_info("policy says %s, level %c", policy_decision_name(v->decision), v->level);
	for (size_t i = 0; i < v->n_reasons; i++)
		log_info("  %s: %s", v->reasons[i].id, v->reasons[i].text);
}

int run_dry_describe(const struct run_options *o, char **ret, struct fault *f)
{
	_cleanup_run_ struct run *run = NULL;
	_cleanup_free_ char *init = NULL, *call = NULL, *mcp = NULL;
	const struct run_plan *d;
	struct placement pl = {
		.uid_base = SESSION_ID_BASE,
		.gid_base = SESSION_ID_BASE,
		.n_ids = SESSION_IDS,
		.rootfs = "/run/custody/m/root",
		.report_fd = INIT_FD,
		.terminal = o->terminal ? TERMINAL_ALL : 0,
	};
	int r;

	r = run_new(o, &run, f);
	if (r == 0)
		r = run_locate(run, f);
	if (r == 0)
		r = run_enter(run, f);
	if (r == 0)
		r = run_load(run, "SESSION", f);
	if (r == 0)
		r = run_plan_judge(&run->plan, o, f);
	if (r < 0)
		return r;
	d = &run->plan;
	init = path_join(d->dirs.libexec, "custody-init");
	call = path_join(d->dirs.libexec, "custody-call");
	mcp = path_join(d->dirs.libexec, "custody-mcp");
	if (!init || !call || !mcp)
		return fault_errno(f, ENOMEM, "run");
	pl.call = call;
	pl.mcp = mcp;
	if (d->dirs.rootless) {
		pl.rootless = true;
		pl.uid_base = geteuid();
		pl.gid_base = getegid();
		pl.n_ids = 1;
		pl.ids = &d->ids.map;
	}
	pl.init = init;
	pl.worktree =
		d->subject->worktree ? (pl.rootless ? d->subject->worktree : "/run/custody/m/tree") : NULL;
	if (d->asked.workspace == PROFILE_WORKSPACE_OVERLAY) {
		pl.upper = "/run/custody/m/l/u";
		pl.work = "/run/custody/m/l/w";
		pl.repository_upper = "/run/custody/m/l/" SESSION_REPOSITORY "/" SESSION_UPPER_DIR;
		pl.repository_work = "/run/custody/m/l/" SESSION_REPOSITORY "/w";
		pl.served = "/run/custody/m/served";
	}
	if (d->base.open)
		pl.base = pl.rootless ? d->base.tree.path : "/run/custody/m/base";
	if (d->base.repository.open)
		pl.repository_base = pl.rootless ? d->base.repository.path : "/run/custody/m/rbase";
	if (operand_needs_lower(d->subject))
		pl.sealed = "/run/custody/m/sealed";
	describe_worktree(d->subject);
	describe_verdict(d);
	return run_prepare_config(d->subject, &pl, true, ret, f);
}
