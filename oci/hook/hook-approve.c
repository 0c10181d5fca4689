/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/hook/hook-approve.h"

#include <errno.h>

#include "base/fd.h"

static void approve_done(struct approve *a)
{
	hook_warden_done(&a->warden);
	grant_set_done(&a->grants);
	claim_done(&a->claim);
	session_done(&a->session);
	approval_lane_done(&a->approval);
	ledger_free(a->ledger);
	verdict_free(a->verdict);
	jdoc_free(a->told);
	bundle_files_done(&a->bundle);
	digest_key_done(&a->key);
	config_free(a->config);
	dirs_done(&a->dirs);
	hook_args_done(&a->terms);
	fd_close(a->pidfd);
}

/* Where things lie is what the bundle says, not what the runtime's caller has in its environment. */
static int take_terms(struct approve *a, struct fault *f)
{
	int r = hook_args_parse(a->args, &a->terms, f);

	if (r >= 0)
		r = hook_args_use_env(&a->terms, f);
	if (r < 0)
		return r;
	return dirs_load_lane(a->terms.lane, &a->dirs, f);
}

static int open_ledger(struct approve *a, struct fault *f)
{
	const struct ledger_options options = { .create = true };
	int r;

	r = ledger_open(a->dirs.state, &options, &a->ledger, NULL, f);
	return r < 0 ? fault_wrap(f, r, "nothing was started, for it could not be recorded in '%s'",
				  a->dirs.state)
		     : 0;
}

/* The reason is said in any case; if it cannot be recorded, that is said as well. */
static int refuse(struct approve *a, int r, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	int e = 0;

	hook_warden_done(&a->warden);
	if (a->reserved)
		(void)!grant_release(&a->approval.store, a->id, a->refusal, NULL);
	if (a->ledger)
		e = ledger_refuse(a->ledger, &a->run, a->refusal, fault_text(f), &why);
	if (e < 0)
		r = fault_wrap(f, r, "not recorded (%s)", fault_text(&why));
	claim_drop(&a->claim);
	if (a->session.run)
		(void)!session_remove(&a->session, NULL);
	return r;
}

static int approve(struct approve *a, struct fault *f)
{
	int r;

	r = open_ledger(a, f);
	/* First, and only needed last: it takes as long to be there as we do to judge. */
	a->refusal = "setup-failed";
	if (r >= 0)
		r = hook_warden_start(&a->warden, a->dirs.libexec, f);
	if (r >= 0)
		r = approve_decide(a, f);
	if (r >= 0)
		r = approve_reserve(a, f);
	return r < 0 ? r : approve_admit(a, f);
}

int hook_approve(const struct hook_state *s, char **args, struct fault *f)
{
	struct approve a = { .state = s, .args = args, .pidfd = -EBADF };
	int r;

	a.bundle.dirfd = a.approval.store.dirfd = -EBADF;
	a.session.run_fd = a.session.ids_fd = -EBADF;
	a.claim = CLAIM_NONE;
	a.warden = HOOK_WARDEN_NONE;
	r = clock_session_id(a.id, f);
	if (r >= 0)
		r = take_terms(&a, f);
	if (r >= 0) {
		a.run = (struct ledger_run){
			.action = "create", .session = a.id, .lane = lane_name(a.terms.lane), .sandbox = true
		};
		r = approve(&a, f);
		if (r < 0)
			r = refuse(&a, r, f);
	}
	/* Else a runtime waits: what we hold goes with the process, faster than piece by piece. */
	if (r < 0)
		approve_done(&a);
	return r;
}
