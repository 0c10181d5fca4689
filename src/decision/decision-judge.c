/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decision/decision.h"

#include <errno.h>

#include "approval/policy-input.h"
#include "ledger/ledger-redact.h"

int decision_verdict(const struct decision_question *q, const struct config *c, struct verdict **ret,
		     struct fault *f)
{
	const struct policy_source of = { .subject = q->subject,
					  .facts = q->facts,
					  .governance = q->governance,
					  .security = (enum security_profile)c->engine_security };
	_cleanup_policy_input_ struct policy_input input = { 0 };
	int r;

	r = policy_input_build(&of, c, q->provenance, &input, f);
	if (r < 0)
		return r;
	if (q->security < input.policy.security)
		input.policy.security = q->security;
	input.policy.unbounded_only = !q->subject && input.policy.security == SECURITY_OFF;
	/* Taint still makes it worse. */
	if (q->as_task && input.policy.intention < INTENTION_TASK)
		input.policy.intention = INTENTION_TASK;
	return policy_decide(&input.policy, ret, f);
}

/* `custody check` knows no containers. */
static int refuse(const struct verdict *v, bool checkable, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf why = { 0 };

	for (size_t i = 0; i < v->n_reasons; i++)
		strbuf_printf(&why, "%s%s", i ? "; " : "", v->reasons[i].text);
	return fault_set(f, EACCES, "denied by policy, nothing was started: %s%s",
			 why.text ? why.text : "no reason was given",
			 checkable ? " (details: custody check -- COMMAND)" : "");
}

int decision_describe(struct decision *d, const struct digest *digest, struct fault *f)
{
	d->verdict_document = verdict_to_json(d->verdict);
	if (!d->verdict_document)
		return fault_errno(f, ENOMEM, "verdict");
	/* A reason may quote a word of the command. */
	redact_document(d->verdict_document, d->run.argv, d->run.redact);
	decision_name_digest(d, digest);
	d->run.approval.level = d->verdict->level;
	d->run.approval.verdict = d->verdict_document;
	return 0;
}

int decision_judge(struct decision *d, const struct decision_question *q, struct fault *f)
{
	int r;

	d->refused = "policy";
	d->status = STATUS_DENIED;
	r = decision_verdict(q, d->config, &d->verdict, f);
	/* A failure to decide is a refusal as well. */
	if (r < 0)
		return fault_wrap(f, r, "policy could not decide, nothing was started");
	r = decision_describe(d, q->digest, f);
	if (r < 0)
		return r;
	if (d->verdict->decision != DECISION_ALLOW && d->verdict->decision != DECISION_ASK)
		return refuse(d->verdict, q->subject, f);
	d->status = STATUS_FAILED;
	return 0;
}
