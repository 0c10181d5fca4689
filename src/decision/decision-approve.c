/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decision/decision.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"

#define GRANT_LABEL "annotation custody.grant"

static int pass(struct decision *d, const char *by)
{
	d->run.approval.granted = true;
	d->run.approval.granted_at_us = clock_wall_us();
	d->run.approval.by = by;
	return 0;
}

static int reserve(struct decision *d, const struct decision_question *q, struct fault *f)
{
	const struct grant_owner owner = { .session = d->run.session, .pid = q->owner };
	int r;

	r = grant_reserve(&d->approval.store, &d->query, &owner, &d->grants, f);
	if (r < 0)
		return r;
	if (d->grants.reason == GRANT_VALID)
		return 0;
	return q->wait_s > 0 ? decision_wait(d, q, f) : decision_request(d, q, f);
}

/* Names of the approvers; the time of the last approval. */
static int name_approvers(struct decision *d, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf names = { 0 };

	for (size_t i = 0; i < d->grants.n_chosen; i++) {
		const struct grant *g = &d->grants.items[i].grant;

		strbuf_printf(&names, "%s%s", i ? ", " : "", g->approver);
		if (g->decided.wall_us > d->run.approval.granted_at_us)
			d->run.approval.granted_at_us = g->decided.wall_us;
	}
	d->approvers = strbuf_take(&names);
	if (!d->approvers)
		return fault_errno(f, ENOMEM, "approvers");
	d->run.approval.granted = true;
	d->run.approval.by = d->approvers;
	return 0;
}

/* As a file of --grant: a grant that is used up may be repeated, the reservation decides. */
static int import_grant(struct decision *d, const char *text, struct fault *f)
{
	_cleanup_grant_ struct grant g = { 0 };
	enum grant_reason why = GRANT_UNDECIDED;
	int r = grant_import_text(&d->approval.store, text, strlen(text), GRANT_LABEL, &d->digest, &g, &why,
				  f);

	if (r < 0)
		return r;
	if (why != GRANT_VALID && why != GRANT_CONSUMED && why != GRANT_RESERVED)
		return fault_set(f, EACCES, GRANT_LABEL " does not count: %s", grant_reason_text(why));
	return 0;
}

int decision_approve(struct decision *d, const struct decision_question *q, struct fault *f)
{
	int r;

	if (d->verdict->decision == DECISION_ALLOW)
		return pass(d, "policy");
	if (q->exempt)
		return pass(d, q->exempt);
	d->refused = "approval";
	d->status = STATUS_UNAPPROVED;
	d->query = (struct grant_query){
		.digest = &d->digest,
		.level = d->verdict->level,
		.uid = geteuid(),
		.user = d->dirs->user,
		.once = q->once,
	};
	r = decision_open_approval(d, q->governance, d->run.profile, f);
	if (r >= 0 && q->grant)
		r = import_grant(d, q->grant, f);
	if (r >= 0)
		r = decision_standing(d, q, f);
	if (r == 0)
		r = q->ask ? q->ask(q->arg, d, f) : reserve(d, q, f);
	if (r < 0)
		return r;
	d->reserved = true;
	d->status = STATUS_FAILED;
	return name_approvers(d, f);
}
