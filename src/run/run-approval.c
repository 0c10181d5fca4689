/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-approval.h"

#include <errno.h>

#include "approval/approval-obtain.h"
#include "base/exit-status.h"

static int obtain(const struct run_approval *a, const struct decision *d, struct approval *ret,
		  struct fault *f)
{
	const struct run_options *o = a->options;
	const struct approval_ask question = {
		.store = &d->approval.store,
		.subject = a->plan->document,
		.verdict = d->run.approval.verdict,
		.digest = &a->plan->digest,
		.level = d->verdict->level,
		.session = d->run.session,
		.redact = d->run.redact,
		.agent = d->run.agent,
		.worker = d->run.worker,
		.user = d->dirs->user,
		.grants = o->grants,
		.on_request = d->config->on_request,
		.prompt_rate = (unsigned int)d->config->prompt_rate,
		.yes = o->yes,
		.wait = o->wait,
		.wait_s = o->wait_s,
		.standing = d->standing,
		.standing_query = d->standing_query.digest ? &d->standing_query : NULL,
		.note = d->standing_note,
	};

	return approval_obtain(&question, ret, f);
}

int run_approval_ask(void *arg, struct decision *d, struct fault *f)
{
	_cleanup_approval_ struct approval answer = { 0 };
	int r;

	r = obtain(arg, d, &answer, f);
	if (r < 0)
		return r;
	if (answer.signal)
		d->status = STATUS_SIGNAL_BASE + answer.signal;
	if (answer.state != APPROVAL_GRANTED)
		return fault_set(f, EACCES, "nothing was started: %s",
				 answer.text ? answer.text : "not approved");
	d->grants = answer.grants;
	answer.grants = (struct grant_set){ 0 };
	/* Signed while we waited. */
	if (answer.standing) {
		const struct run_approval *a = arg;
		const struct decision_question q = run_plan_question(a->plan, a->options);

		d->reserved = true;
		return decision_take_standing(d, &q, f);
	}
	return 0;
}
