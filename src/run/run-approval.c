/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-approval.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/exit-status.h"
#include "subject/subject-digest.h"

static const struct jdoc *governance_of(const struct run_approval *g)
{
	return g->plan->profile->sections[PROFILE_SECTION_GOVERNANCE];
}

static int copy_words(const struct jdoc *list, char ***out)
{
	int r = 0;

	for (size_t i = 0; list && list->type == JDOC_ARRAY && i < list->n_items && r == 0; i++)
		r = strv_append(out, list->items[i]->string);
	return r;
}

int run_approval_redact(struct run_approval *g, const struct run_plan *d, struct ledger_run *run,
			struct fault *f)
{
	const struct jdoc *audit = d->profile ? d->profile->sections[PROFILE_SECTION_AUDIT] : NULL;
	int r = 0;

	strv_free(g->redact_flags);
	g->redact_flags = NULL;
	for (char **flag = d->config ? d->config->redact_flags : NULL; r == 0 && flag && *flag; flag++)
		r = strv_append(&g->redact_flags, *flag);
	if (r == 0)
		r = copy_words(jdoc_get(audit, "redact"), &g->redact_flags);
	if (r < 0)
		return fault_errno(f, ENOMEM, "words to redact");
	g->redact = (struct redact){ .flags = g->redact_flags,
				     .headers = d->config ? d->config->redact_headers : NULL };
	run->redact = &g->redact;
	return 0;
}

int run_approval_describe(struct run_approval *g, const struct run_plan *d, struct ledger_run *run,
			  struct fault *f)
{
	g->plan = d;
	if (!d->verdict)
		return 0;
	subject_digest_to_text(&d->digest, g->digest);
	g->verdict = verdict_to_json(d->verdict);
	if (!g->verdict)
		return fault_errno(f, ENOMEM, "verdict");
	run->digest = g->digest;
	run->approval.level = d->verdict->level;
	run->approval.verdict = g->verdict;
	return 0;
}

static int refuse_by_policy(const struct verdict *v, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf why = { 0 };

	for (size_t i = 0; i < v->n_reasons; i++)
		strbuf_printf(&why, "%s%s", i ? "; " : "", v->reasons[i].text);
	return fault_set(f, EACCES,
			 "denied by policy, nothing was started: %s ('custody check -- COMMAND' says more)",
			 why.text ? why.text : "no reason was given");
}

/* Names of those who said yes; the time of the last of them. */
static int name_granters(struct run_approval *g, struct ledger_run *run, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf names = { 0 };
	const struct grant_set *s = &g->approval.grants;

	for (size_t i = 0; i < s->n_chosen; i++) {
		strbuf_printf(&names, "%s%s", i ? ", " : "", s->items[i].grant.approver);
		if (s->items[i].grant.decided.wall_us > run->approval.granted_at_us)
			run->approval.granted_at_us = s->items[i].grant.decided.wall_us;
	}
	g->by = strbuf_take(&names);
	if (!g->by)
		return fault_errno(f, ENOMEM, "approvers");
	run->approval.granted = true;
	run->approval.by = g->by;
	return 0;
}

static int ask(struct run_approval *g, const struct run_options *o, struct ledger *l, struct ledger_run *run,
	       int *ret_status, struct fault *f)
{
	const struct run_plan *d = g->plan;
	const struct approval_ask question = {
		.store = &g->approval_lane.store,
		.subject = d->document,
		.verdict = g->verdict,
		.digest = &d->digest,
		.level = d->verdict->level,
		.session = run->session,
		.agent = run->agent,
		.worker = run->worker,
		.user = d->dirs.user,
		.grants = o->grants,
		.on_request = d->config->on_request,
		.prompt_rate = (unsigned int)d->config->prompt_rate,
		.yes = o->yes,
		.wait = o->wait,
		.wait_s = o->wait_s,
	};
	int r;

	r = approval_lane_open(&d->dirs, d->config, l, &g->approval_lane, f);
	g->approval_lane.store.agent = run->agent;
	g->approval_lane.store.worker = run->worker;
	if (r == 0)
		r = approval_lane_tighten(&g->approval_lane, governance_of(g), d->profile->name, f);
	if (r == 0)
		r = approval_obtain(&question, &g->approval, f);
	if (r < 0)
		return r;
	if (g->approval.signal)
		*ret_status = STATUS_SIGNAL_BASE + g->approval.signal;
	if (g->approval.state != APPROVAL_GRANTED)
		return fault_set(f, EACCES, "nothing was started: %s",
				 g->approval.text ? g->approval.text : "it was not approved");
	g->session = run->session;
	g->reserved = true;
	g->query = (struct grant_query){
		.digest = &d->digest, .level = d->verdict->level, .uid = geteuid(), .user = d->dirs.user
	};
	return name_granters(g, run, f);
}

int run_approval_ask(struct run_approval *g, const struct run_options *o, struct ledger *l,
		     struct ledger_run *run, int *ret_status, const char **ret_refused, struct fault *f)
{
	const struct verdict *v = g->plan->verdict;

	switch (v->decision) {
	case DECISION_ALLOW:
		run->approval.granted = true;
		run->approval.granted_at_us = clock_wall_us();
		run->approval.by = "policy";
		return 0;
	case DECISION_ASK:
		if (o->canary) {
			run->approval.granted = true;
			run->approval.granted_at_us = clock_wall_us();
			run->approval.by = "doctor";
			return 0;
		}
		*ret_status = STATUS_UNAPPROVED;
		*ret_refused = "approval";
		return ask(g, o, l, run, ret_status, f);
	case DECISION_DENY:
	case _DECISION_MAX:
		break;
	}
	*ret_status = STATUS_DENIED;
	*ret_refused = "policy";
	return refuse_by_policy(v, f);
}

int run_approval_consume(struct run_approval *g, struct fault *f)
{
	_cleanup_grants_ struct grant_set used = { 0 };
	_cleanup_free_ char *why = NULL;
	int r;

	if (!g->reserved)
		return 0;
	r = grant_consume(&g->approval_lane.store, &g->query, g->session, &used, f);
	if (r < 0)
		return r;
	if (used.reason != GRANT_VALID) {
		why = grant_set_explain(&used);
		return fault_set(f, EACCES, "the approval does not hold any more: %s",
				 why ? why : grant_reason_text(used.reason));
	}
	g->reserved = false;
	return 0;
}

void run_approval_release(struct run_approval *g, const char *why)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (!g->reserved)
		return;
	g->reserved = false;
	/* It returns by itself when this process is gone. */
	if (grant_release(&g->approval_lane.store, g->session, why, &f) < 0)
		log_error("%s, ignoring", fault_text(&f));
}

void run_approval_done(struct run_approval *g)
{
	approval_done(&g->approval);
	approval_lane_done(&g->approval_lane);
	free(g->by);
	jdoc_free(g->verdict);
	strv_free(g->redact_flags);
	*g = RUN_APPROVAL_NONE;
}
