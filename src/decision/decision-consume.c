/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decision/decision.h"

#include <errno.h>

int decision_open_approval(struct decision *d, const struct jdoc *governance, const char *profile,
			   struct fault *f)
{
	int r;

	r = approval_lane_open(d->dirs, d->config, d->ledger, &d->approval, f);
	if (r < 0)
		return r;
	d->approval.store.agent = d->run.agent;
	d->approval.store.worker = d->run.worker;
	return approval_lane_tighten(&d->approval, governance, profile, f);
}

int decision_consume(struct decision *d, struct fault *f)
{
	_cleanup_grants_ struct grant_set used = { 0 };
	_cleanup_free_ char *why = NULL;
	int r;

	if (!d->reserved)
		return 0;
	r = grant_consume(&d->approval.store, &d->query, d->run.session, &used, f);
	if (r < 0)
		return r;
	if (used.reason != GRANT_VALID) {
		why = grant_set_explain(&used);
		return fault_set(f, EACCES, "the approval is no longer valid: %s",
				 why ? why : grant_reason_text(used.reason));
	}
	d->reserved = false;
	return 0;
}

int decision_release(struct decision *d, const char *why, struct fault *f)
{
	if (!d->reserved)
		return 0;
	/* Once: a reservation that is not released returns when its process exits. */
	d->reserved = false;
	return grant_release(&d->approval.store, d->run.session, why, f);
}
