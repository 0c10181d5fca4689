/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "cli/output.h"
#include "cli/run-call.h"
#include "run/run-limits.h"
#include "run/run-plan.h"
#include "run/run-options.h"
#include "base/exit-status.h"
#include "state/lane.h"
#include "subject/subject-digest.h"

#define SCHEMA_VERSION 1

/* `check` decides as `run` would; missing keys of the lane are part of the answer, not an error. */
struct check {
	struct run_plan plan;
	char *gate; /* why the lane is refused; NULL: it is not */
};

static void check_done(struct check *c)
{
	run_plan_done(&c->plan);
	free(c->gate);
}

/* A refused lane is an answer; only a failure to decide is an error. */
static int ask_gate(struct check *c, const struct run_options *o, struct fault *f)
{
	_cleanup_lane_pass_ struct lane_pass *pass = NULL;
	_cleanup_fault_ struct fault why = { 0 };
	_cleanup_free_ char **argv = calloc(strv_len(o->words) + 1, sizeof(*argv));
	const struct lane_ask ask = { .lane = c->plan.dirs.lane,
				      .allow_prod = o->allow_prod,
				      .allow_env = getenv(LANE_ALLOW_ENV),
				      .program = program_invocation_name,
				      .argv = argv };
	int r;

	if (!argv)
		return fault_errno(f, ENOMEM, "check");
	/* The message suggests a command line: that of the run, not of `check`. */
	memcpy(argv, o->words, strv_len(o->words) * sizeof(*argv));
	argv[0] = (char *)"run";
	r = lane_gate(&ask, &pass, &why);
	if (r == 0)
		return 0;
	if (r != -LANE_REFUSED)
		return fault_set(f, -r, "%s", fault_text(&why));
	c->gate = strdup(fault_text(&why));
	return c->gate ? 0 : fault_errno(f, ENOMEM, "check");
}

static int print_json(const struct check *c, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	char digest[SUBJECT_DIGEST_SIZE];
	struct jdoc *gate;
	int r;

	subject_digest_to_text(&c->plan.digest, digest);
	jdoc_set_int(d, "schema_version", SCHEMA_VERSION);
	jdoc_set_string(d, "digest", digest);
	jdoc_set(d, "subject", jdoc_copy(c->plan.document));
	jdoc_set(d, "verdict", verdict_to_json(c->plan.verdict));
	gate = jdoc_set_object(d, "gate");
	jdoc_set_bool(gate, "open", !c->gate);
	if (c->gate)
		jdoc_set_string(gate, "text", c->gate);
	r = jdoc_write(d, JDOC_CANONICAL, &text, f);
	strbuf_putc(&text, '\n');
	return r < 0 ? r : output_put_json(&text, f);
}

static const char *level_means(const struct verdict *v)
{
	if (v->decision == DECISION_DENY)
		return "it would not start";
	switch (v->level) {
	case 'A':
		return "it would start at once";
	case 'B':
		return "an approver must confirm it";
	default:
		return "an approver must confirm it with the PIN";
	}
}

static void put_escaped(struct strbuf *out, const char *text)
{
	_cleanup_free_ char *shown = str_escape(text);

	strbuf_puts(out, shown ? shown : "?");
}

static void put_reasons(struct strbuf *out, const struct verdict *v)
{
	for (size_t i = 0; i < v->n_reasons; i++) {
		strbuf_printf(out, "  %s: ", v->reasons[i].id);
		put_escaped(out, v->reasons[i].text);
		strbuf_putc(out, '\n');
	}
}

static void put_writes(struct strbuf *out, const struct subject *s)
{
	bool any = false;

	strbuf_puts(out, "writes      ");
	if (s->profile->workspace == PROFILE_WORKSPACE_RW) {
		put_escaped(out, s->worktree);
		any = true;
	}
	for (size_t i = 0; i < s->n_mounts; i++) {
		if (s->mounts[i].kind != SUBJECT_MOUNT_BIND || !s->mounts[i].rw)
			continue;
		strbuf_puts(out, any ? ", " : "");
		put_escaped(out, s->mounts[i].source);
		any = true;
	}
	strbuf_puts(out, any ? " (of the host)\n" : "nothing of the host\n");
}

/* Nothing where every layer is required. */
static void put_optional(struct strbuf *out, const struct subject *s)
{
	if (!s->profile->optional)
		return;
	strbuf_puts(out, "may lack    ");
	run_limits_put_names(out, s->profile->optional, ", ");
	strbuf_putc(out, '\n');
}

static void put_sealed(struct strbuf *out, const struct subject *s)
{
	strbuf_puts(out, "sealed      ");
	for (size_t i = 0; i < s->n_operands; i++) {
		strbuf_puts(out, i ? ", " : "");
		put_escaped(out, s->operands[i].path);
	}
	strbuf_printf(out, "%s%s\n", s->n_operands ? "; " : "",
		      s->seal == OPERAND_SEAL_TREE   ? "the whole tree"
		      : s->seal == OPERAND_SEAL_NONE ? "nothing (--no-seal)"
		      : s->n_operands		     ? "the rest of the tree is not sealed"
						     : "nothing: the command line names no file of the tree");
}

static void put_worktree(struct strbuf *out, const struct subject *s)
{
	strbuf_puts(out, "worktree    ");
	put_escaped(out, s->worktree ? s->worktree : "empty, in memory");
	strbuf_printf(out, " (%s)", profile_worktree_word(s->profile));
	if (!str_eq(s->worktree, subject_work_target(s))) {
		strbuf_puts(out, ", inside at ");
		put_escaped(out, subject_work_target(s));
	}
	strbuf_puts(out, "\nstarts in   ");
	put_escaped(out, s->cwd);
	strbuf_putc(out, '\n');
}

static void put_network(struct strbuf *out, const struct profile *p)
{
	const char *label = "network    ";

	if (p->network != PROFILE_NETWORK_ALLOW)
		strbuf_printf(out, "\nnetwork     %s",
			      p->network == PROFILE_NETWORK_HOST ? "the host's" : "none");
	for (size_t i = 0; p->network == PROFILE_NETWORK_ALLOW && i < p->n_network_hosts; i++) {
		_cleanup_free_ char *rule = host_rule_text(&p->network_hosts[i]);

		strbuf_printf(out, "\n%s %s", label, rule ? rule : "?");
		label = "           ";
	}
	strbuf_putc(out, '\n');
}

/* The steps of docs/design/governance.md with their results. */
static void put_steps(struct strbuf *out, const struct run_plan *d)
{
	const struct verdict *v = d->verdict;
	const struct subject *s = d->subject;

	strbuf_printf(out, "lane        %s\nprofile     ", lane_name(s->lane));
	put_escaped(out, s->profile->name ? s->profile->name : "?");
	put_network(out, s->profile);
	put_worktree(out, s);
	put_writes(out, s);
	put_sealed(out, s);
	strbuf_printf(out, "1 command   %s by itself, in domain %s\n", outcome_name(v->axes.raw_outcome),
		      domain_name(v->axes.domain));
	strbuf_printf(out, "2 confined  %s%s\n", outcome_name(v->axes.outcome),
		      v->axes.outcome == v->axes.raw_outcome ? ", unchanged: the sandbox makes no difference"
							     : ": no effect outlasts the run");
	strbuf_printf(out, "3 requester %s\n", intention_name(v->axes.intention));
	strbuf_printf(out, "4 table     security profile %s: %s\n", security_profile_name(v->axes.profile),
		      review_name(v->axes.review));
	strbuf_puts(out, "because\n");
}

static int print_words(const struct check *c, bool explain, struct fault *f)
{
	const struct verdict *v = c->plan.verdict;
	_cleanup_strbuf_ struct strbuf out = { 0 };
	char digest[SUBJECT_DIGEST_SIZE];

	subject_digest_to_text(&c->plan.digest, digest);
	strbuf_printf(&out, "digest      %s\nverdict     %s, level %c: %s\n", digest,
		      policy_decision_name(v->decision), v->level, level_means(v));
	put_optional(&out, c->plan.subject);
	if (explain)
		put_steps(&out, &c->plan);
	put_reasons(&out, v);
	if (c->gate) {
		strbuf_puts(&out, "  lane: ");
		put_escaped(&out, c->gate);
		strbuf_putc(&out, '\n');
	}
	if (out.broken)
		return fault_errno(f, ENOMEM, "check");
	return fd_write_all(STDOUT_FILENO, out.text, out.len, f);
}

static int check(const struct run_options *o, bool explain, struct fault *f)
{
	_cleanup_(check_done) struct check c = { 0 };
	int r;

	r = run_plan_open(o, "SESSION", &c.plan, f);
	if (r >= 0)
		r = run_plan_judge(&c.plan, o, f);
	if (r >= 0)
		r = ask_gate(&c, o, f);
	if (r >= 0 && o->json)
		r = print_json(&c, f);
	else if (r >= 0 && !o->quiet)
		r = print_words(&c, explain, f);
	if (r < 0)
		return r;
	return c.plan.verdict->decision == DECISION_ALLOW && !c.gate ? STATUS_OK : STATUS_NO;
}

int cmd_check(struct command_call *c, struct fault *f)
{
	int r;

	log_init(PACKAGE_NAME, LOG_LEVEL_INFO);
	r = run_call_finish(c, f);
	if (r < 0)
		return dispatch_usage(c, "%s", fault_text(f));
	return check(&c->run, c->explained, f);
}
