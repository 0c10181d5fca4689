/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/policy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/command-class.h"
#include "policy/policy-rule.h"

/*
 * The order of the steps is normative (docs/design/governance.md). No step may lower the review that an
 * earlier invariant raised: `review` only moves towards REVIEW_PIN. The one exception is an operator's allow
 * rule, which never removes a PIN.
 */

/* --- reasons ------------------------------------------------------------------------------------------------- */

#define REASON_WORDS_MAX 80

/* Words of the command: truncated, with internal markers and control characters made visible. */
static char *quote(const char *what)
{
	char cut[REASON_WORDS_MAX + 4];
	size_t len = strnlen(what, REASON_WORDS_MAX);

	memcpy(cut, what, len);
	if (what[len]) {
		/* Never cut inside a UTF-8 sequence. */
		while (len > 0 && ((unsigned char)what[len] & 0xc0) == 0x80)
			len--;
		memcpy(cut + len, "...", 3);
		len += 3;
	}
	cut[len] = '\0';
	for (char *p = cut; *p; p++)
		if (*p == SHELL_UNKNOWN)
			*p = '?';
	return str_escape(cut);
}

static int add_reason(struct verdict *v, const char *id, const char *what, const char *why, struct fault *f)
{
	_cleanup_free_ char *shown = NULL;
	char *text;

	if (v->n_reasons == VERDICT_REASONS_MAX)
		return 0;
	if (what && *what) {
		shown = quote(what);
		if (!shown || asprintf(&text, "'%s': %s", shown, why) < 0)
			return fault_errno(f, ENOMEM, "verdict");
	} else {
		text = strdup(why);
		if (!text)
			return fault_errno(f, ENOMEM, "verdict");
	}
	v->reasons[v->n_reasons++] = (struct verdict_reason){ id, text };
	return 0;
}

static int add_findings(struct verdict *v, const struct command_class *c, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->n_findings; i++)
		if (str_eq(c->findings[i].id, "unbounded-delete"))
			r = add_reason(v, c->findings[i].id, c->findings[i].what, c->findings[i].why, f);
	for (size_t i = 0; r == 0 && i < c->n_findings; i++)
		if (!str_eq(c->findings[i].id, "unbounded-delete"))
			r = add_reason(v, c->findings[i].id, c->findings[i].what, c->findings[i].why, f);
	return r;
}

/* --- steps --------------------------------------------------------------------------------------------------- */

/* True if no effect of the command outlives the sandbox. */
static bool is_ephemeral(const struct policy_facts *facts)
{
	return facts->isolated && facts->worktree_mode == POLICY_WORKTREE_EPHEMERAL && facts->n_rw == 0 &&
	       facts->network == POLICY_NETWORK_NONE && !facts->broker_tool;
}

static enum intention intention_of(const struct policy_facts *facts)
{
	enum intention i =
		(unsigned int)facts->intention < _INTENTION_MAX ? facts->intention : INTENTION_AUTONOMOUS;

	if (facts->taints & ~(unsigned int)TAINT_TOOL_OUTPUT)
		return INTENTION_AUTONOMOUS;
	if (facts->taints && i > INTENTION_TASK)
		return INTENTION_TASK;
	return i;
}

/* Step 1: targets that the words do not show may be anything that a delete can reach. */
static bool is_unbounded(const struct command_class *c, bool ephemeral)
{
	return c->traits & COMMAND_UNBOUNDED || (c->traits & COMMAND_UNKNOWN_DELETE && !ephemeral);
}

/* Step 2: an unknown part is irreversible, or soft if effects are ephemeral. */
static enum outcome raw_outcome_of(const struct command_class *c, bool ephemeral)
{
	enum outcome unknown = ephemeral ? OUTCOME_SOFT : OUTCOME_IRREVERSIBLE;

	if (c->traits & (COMMAND_UNKNOWN | COMMAND_RUNS) && unknown < c->outcome)
		return unknown;
	return c->outcome;
}

/* Step 3. */
static enum outcome lower(enum outcome o, bool ephemeral)
{
	return ephemeral && o < OUTCOME_REVERSIBLE ? (enum outcome)(o + 1) : o;
}

static void raise_to(struct verdict *v, enum review r)
{
	if (r < v->axes.review)
		v->axes.review = r;
}

/* Names the directories that an arbitrary program could delete. */
static int add_reach(struct verdict *v, const struct policy_facts *facts, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	int r;

	strbuf_puts(&b, "may delete everything under ");
	if (!facts->isolated)
		strbuf_puts(&b, "/ that the user can write");
	else if (facts->worktree_mode == POLICY_WORKTREE_RW)
		strbuf_puts(&b, facts->worktree_host ? facts->worktree_host
				: facts->worktree    ? facts->worktree
						     : "the worktree");
	for (size_t i = 0; facts->isolated && i < facts->n_rw; i++) {
		if (i > 0 || facts->worktree_mode == POLICY_WORKTREE_RW)
			strbuf_puts(&b, ", ");
		strbuf_puts(&b, facts->rw[i].source ? facts->rw[i].source : facts->rw[i].target);
	}
	if (b.broken)
		return fault_errno(f, ENOMEM, "verdict");
	{
		_cleanup_free_ char *shown = str_escape(b.text);

		if (!shown)
			return fault_errno(f, ENOMEM, "verdict");
		r = add_reason(v, "may-delete", NULL, shown, f);
	}
	return r;
}

/* Step 4, the part that changes the outcome: before the invariants that read it. */
static int judge_reach(struct verdict *v, const struct policy_facts *facts, const struct command_class *c,
		       struct fault *f)
{
	bool writes = !facts->isolated || facts->worktree_mode == POLICY_WORKTREE_RW || facts->n_rw > 0;

	if (!writes || !(c->traits & (COMMAND_RUNS | COMMAND_UNPARSABLE)))
		return 0;
	v->axes.outcome = OUTCOME_IRREVERSIBLE;
	return add_reach(v, facts, f);
}

/* Whatever it may write: every program may read the keys, tokens and messages in a home. */
static int judge_home(struct verdict *v, const struct policy_facts *facts, struct fault *f)
{
	if (facts->home_is_apart)
		return 0;
	raise_to(v, REVIEW_CONFIRM);
	return add_reason(v, "home-exposed", facts->worktree_host,
			  "the worktree is, or contains, the caller's home directory: keys, tokens, settings "
			  "and history "
			  "there can be read; to show less: cd to the directory of the project",
			  f);
}

static int judge_invariants(struct verdict *v, const struct policy_facts *facts,
			    const struct command_class *c, struct fault *f)
{
	int r = 0;

	if (v->axes.outcome == OUTCOME_IRREVERSIBLE && v->axes.intention == INTENTION_AUTONOMOUS) {
		raise_to(v, REVIEW_PIN);
		r = add_reason(v, "autonomous", NULL,
			       "irreversible, and no user is known to have asked for it", f);
	}
	if (r == 0 && v->axes.domain == DOMAIN_SYSTEM) {
		raise_to(v, v->axes.outcome == OUTCOME_IRREVERSIBLE ? REVIEW_PIN : REVIEW_CONFIRM);
		r = add_reason(v, "system", NULL, "affects the system outside the worktree", f);
	}
	if (r == 0 && facts->web_requester && c->traits & COMMAND_CHANGES) {
		raise_to(v, REVIEW_PIN);
		r = add_reason(v, "web-requester", NULL, "requested by web content, and not read-only", f);
	}
	if (r == 0 && c->traits & COMMAND_UNPARSABLE)
		raise_to(v, REVIEW_CONFIRM);
	return r;
}

/* After the rules: the words that they match may be those of another program at the next start. */
static int judge_image(struct verdict *v, const struct policy_facts *facts, struct fault *f)
{
	if (!facts->image_unknown)
		return 0;
	raise_to(v, REVIEW_CONFIRM);
	return add_reason(v, "image-unknown", NULL,
			  "the image cannot be identified, so an approval is for one start only", f);
}

static int apply_rules(struct verdict *v, const struct policy_facts *facts, const struct command_class *c,
		       bool *ret_denied, struct fault *f)
{
	const struct policy_rule *rule;
	const char *where;

	*ret_denied = false;
	switch (policy_rules_answer(facts, c, &rule)) {
	case POLICY_ANSWER_DENY:
		*ret_denied = true;
		where = rule->where ? rule->where : "a rule";
		return add_reason(v, "rule-deny", where, "denied by this rule", f);
	case POLICY_ANSWER_ASK:
		raise_to(v, REVIEW_CONFIRM);
		where = rule && rule->where ? rule->where : "rules";
		return add_reason(
			v, "rule-ask", where,
			rule ? "this rule requires approval"
			     : "part of the command cannot be parsed, so a deny or ask rule may apply",
			f);
	case POLICY_ANSWER_ALLOW:
		/* A PIN is never skipped by a rule. */
		if (v->axes.review != REVIEW_CONFIRM)
			return 0;
		v->axes.review = REVIEW_LOG;
		where = rule->where ? rule->where : "a rule";
		return add_reason(v, "rule-allow", where, "allowed by this rule", f);
	case POLICY_ANSWER_NONE:
		break;
	}
	return 0;
}

static void set_level(struct verdict *v)
{
	v->level = v->axes.review == REVIEW_PIN ? 'C' : v->axes.review == REVIEW_CONFIRM ? 'B' : 'A';
	v->decision = v->level == 'A' ? DECISION_ALLOW : DECISION_ASK;
}

/* Steps 3 to 5, without the rules. */
static int judge(struct verdict *v, const struct policy_facts *facts, const struct command_class *c,
		 struct fault *f)
{
	bool ephemeral = is_ephemeral(facts);
	/* Before the findings, of which there may be more than reasons fit. */
	int r = judge_home(v, facts, f);

	if (r == 0)
		r = add_findings(v, c, f);
	if (r == 0 && v->axes.outcome != v->axes.raw_outcome)
		r = add_reason(v, "confined", NULL, "effects are ephemeral: risk lowered by one level", f);
	if (r == 0)
		r = judge_reach(v, facts, c, f);
	if (r == 0)
		r = judge_invariants(v, facts, c, f);
	if (r == 0)
		raise_to(v, policy_table_review(v->axes.profile, v->axes.outcome, v->axes.intention,
						v->axes.domain, ephemeral));
	return r;
}

static int decide(struct verdict *v, const struct policy_facts *facts, const struct command_class *c,
		  struct fault *f)
{
	bool ephemeral = is_ephemeral(facts), denied = false;
	int r;

	v->axes.raw_outcome = raw_outcome_of(c, ephemeral);
	v->axes.outcome = lower(v->axes.raw_outcome, ephemeral);
	v->axes.intention = intention_of(facts);
	v->axes.domain = c->domain;
	v->axes.profile = (unsigned int)facts->security < _SECURITY_MAX ? facts->security : SECURITY_STRICT;
	v->axes.review = REVIEW_PASS;
	if (is_unbounded(c, ephemeral))
		v->axes.review = REVIEW_PIN;
	r = facts->unbounded_only ? add_findings(v, c, f) : judge(v, facts, c, f);
	if (r == 0)
		r = apply_rules(v, facts, c, &denied, f);
	if (r == 0 && !facts->unbounded_only)
		r = judge_image(v, facts, f);
	if (r < 0)
		return r;
	set_level(v);
	if (denied)
		v->decision = DECISION_DENY;
	return 0;
}

int policy_decide(const struct policy_facts *facts, struct verdict **ret, struct fault *f)
{
	const struct command_place place = {
		.cwd = facts->cwd,
		.home = facts->home,
		.worktree = facts->worktree,
		.worktree_host = facts->worktree_host,
		.rw = facts->rw,
		.n_rw = facts->n_rw,
		.trusted_hosts = facts->trusted_hosts,
		.env = facts->env,
		.git_is_plain = facts->git_is_plain,
		.replaced = facts->replaced,
	};
	_cleanup_verdict_ struct verdict *v = NULL;
	_cleanup_arena_ struct arena arena;
	struct command_class class;
	int r;

	arena_init(&arena);
	if (!facts->argv || !facts->argv[0])
		return fault_set(f, EINVAL, "missing command");
	v = calloc(1, sizeof(*v));
	if (!v || command_classify(&arena, &place, facts->argv, &class) < 0)
		return fault_errno(f, ENOMEM, "evaluate policy for '%s'", facts->argv[0]);
	r = decide(v, facts, &class, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(v);
	return 0;
}
