/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "broker/broker-inspect.h"
#include "broker/broker-params.h"
#include "broker/broker-token.h"

#define MS UINT64_C(1000000)

static void refuse(struct broker_server *s, struct broker_client *c, const char *tool, const char *code,
		   const char *text, uint64_t backoff_ms)
{
	broker_record_refusal(s, tool, code);
	/* A refusal costs no budget, and the broker's time is not in the limits of the session. */
	if (s->refused > BROKER_REFUSALS_RECORDED && backoff_ms < BROKER_REFUSED_MS)
		backoff_ms = BROKER_REFUSED_MS;
	broker_reply_refusal(&c->out, code, text);
	broker_client_reply(s, c, backoff_ms);
}

/* One more bad token in the session: their replies come later and later, the others' do not. */
static uint64_t back_off(struct broker_server *s, struct broker_client *c)
{
	const uint64_t now = clock_boot_ns(), floor = s->job->tools->delay_ms;
	const uint64_t first = floor > BROKER_BAD_MS ? floor : BROKER_BAD_MS;
	uint64_t ms;

	for (uint64_t passed = (now - s->bad_ns) / (1000 * MS); s->bad_level && passed; passed--)
		s->bad_level--;
	/* The first one takes as long as every other answer. */
	ms = s->bad_level ? first << s->bad_level : floor;
	s->bad_ns = now;
	if (s->bad_level < BROKER_BAD_LEVELS)
		s->bad_level++;
	if (++c->bad >= BROKER_BAD_MAX)
		c->last = true;
	return ms;
}

/* Before a request is read: no process of the session, or no line. */
void broker_refuse_peer(struct broker_server *s, struct broker_client *c, const char *code, const char *text)
{
	c->last = true;
	refuse(s, c, NULL, code, text, c->known ? 0 : back_off(s, c));
}

static void finish(struct broker_server *s, struct broker_client *c, const struct jdoc *data)
{
	broker_record_result(s, c->tool, c->call, "ok", (clock_boot_ns() - c->line_ns) / MS);
	broker_reply_data(&c->out, data);
	broker_client_reply(s, c, 0);
}

static void fail(struct broker_server *s, struct broker_client *c, const char *code, const char *text)
{
	broker_record_result(s, c->tool, c->call, code, (clock_boot_ns() - c->line_ns) / MS);
	broker_reply_refusal(&c->out, code, text);
	broker_client_reply(s, c, 0);
}

static void dispatch(struct broker_server *s, struct broker_client *c, const struct jdoc *params)
{
	_cleanup_jdoc_ struct jdoc *data = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	int r;

	/* Without a record nothing happens. */
	if (broker_record_intent(s, c->tool, c->call, params, &f) < 0) {
		refuse(s, c, c->tool->name, "ledger", "the call cannot be recorded: it was not made", 0);
		return;
	}
	c->unwritten = s->n_pending > 0;
	r = broker_tool_begin(s, c, params, &data, &f);
	if (r < 0)
		fail(s, c, r == -ENOKEY ? BROKER_CODE_CREDENTIAL : "tool-failed", fault_text(&f));
	else if (r == 0)
		finish(s, c, data);
}

/* What git.push would send is not in its parameters. */
static int inspect(void *arg, const struct broker_tool *t, const struct jdoc *params, struct fault *f)
{
	int r = broker_inspect(arg, t, params, f);

	return r == 0 && t->builtin == BROKER_GIT_PUSH ? fault_set(f, EINPROGRESS, "not inspected yet") : r;
}

static int accept_prepared(void *arg, const struct broker_tool *t, const struct jdoc *params, struct fault *f)
{
	(void)arg;
	(void)t;
	(void)params;
	(void)f;
	return 0;
}

static void prepare(struct broker_server *s, struct broker_client *c, const struct jdoc *params)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (broker_git_prepare(s, c, params, &f) < 0)
		refuse(s, c, c->tool->name, "tool-failed", fault_text(&f), 0);
}

/* The same decision about what the first step has found: PLAN takes the place of the parameters. */
static void decide_prepared(struct broker_server *s, struct broker_client *c, const struct jdoc *plan)
{
	const struct broker_checks checks = { .inspect = accept_prepared,
					      .approve = broker_approve,
					      .arg = s };
	/* Peer and token were checked when the line came; the budget has counted the call. */
	const struct broker_call call = {
		.peer = true, .token = true, .tool = c->tool->name, .params = plan, .calls = c->call - 1
	};
	_cleanup_fault_ struct fault f = { 0 };
	struct broker_decision d = broker_decide(s->job->tools, &s->values, &call, &checks, &f);

	if (d.step == BROKER_ALLOWED) {
		dispatch(s, c, plan);
		return;
	}
	broker_git_drop(s);
	refuse(s, c, c->tool->name, broker_step_name(d.step), fault_text(&f), 0);
}

static void decide(struct broker_server *s, struct broker_client *c, const struct broker_request *q)
{
	const struct broker_checks checks = { .inspect = inspect, .approve = broker_approve, .arg = s };
	const struct broker_call call = { .peer = c->peer,
					  .token = broker_token_is(&s->job->token, q->token),
					  .tool = q->tool,
					  .params = q->params,
					  .calls = s->calls };
	_cleanup_fault_ struct fault f = { 0 };
	struct broker_decision d;

	/* Before a tool starts: its keeper is a copy of this process. */
	if (q->token)
		explicit_bzero((char *)q->token, strlen(q->token));
	d = broker_decide(s->job->tools, &s->values, &call, &checks, &f);

	if (d.counted)
		s->calls++;
	c->known |= call.peer && call.token;
	c->tool = d.tool;
	c->call = s->calls;
	if (d.step == BROKER_ALLOWED)
		dispatch(s, c, q->params);
	else if (d.step == BROKER_INSPECTION && f.code == EINPROGRESS)
		prepare(s, c, q->params);
	else
		refuse(s, c, d.tool ? d.tool->name : NULL, broker_step_name(d.step), fault_text(&f),
		       d.step <= BROKER_TOKEN ? back_off(s, c) : 0);
}

/* No call: it has no budget and no record, but as the refusals, which have no budget either, it has a rate. */
static void list_tools(struct broker_server *s, struct broker_client *c, const struct broker_request *q)
{
	_cleanup_jdoc_ struct jdoc *list = NULL;
	const bool known = c->peer && broker_token_is(&s->job->token, q->token);

	if (q->token)
		explicit_bzero((char *)q->token, strlen(q->token));
	if (!known) {
		refuse(s, c, NULL, broker_step_name(BROKER_TOKEN), "not the token of this session",
		       back_off(s, c));
		return;
	}
	c->known = true;
	list = broker_tools_list(s->job->tools);
	broker_reply_data(&c->out, list);
	broker_client_reply(s, c, s->lists++ < BROKER_LISTS_MAX ? 0 : BROKER_REFUSED_MS);
}

void broker_call(struct broker_server *s, struct broker_client *c, char *line, size_t len)
{
	_cleanup_broker_request_ struct broker_request q = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	int r = broker_request_parse(line, len, &q, &f);

	explicit_bzero(line, len);
	if (r < 0)
		refuse(s, c, NULL, "request", fault_text(&f), c->known ? 0 : back_off(s, c));
	else if (q.list)
		list_tools(s, c, &q);
	else
		decide(s, c, &q);
}

/* JSON is data as it is; other text becomes a string. */
static struct jdoc *read_output(const struct strbuf *b)
{
	static const struct jdoc_limits limits = { .depth_max = BROKER_DEPTH_MAX };
	const char *text = b->text ? b->text : "";
	struct jdoc *d = NULL;

	if (jdoc_parse(text, b->len, "output", &limits, &d, NULL) == 0)
		return d;
	return memchr(text, '\0', b->len) || !str_is_utf8(text, b->len) ? NULL : jdoc_new_string(text);
}

static const char *explain(const char *failed)
{
	if (str_eq(failed, BROKER_CODE_CREDENTIAL))
		return "the tool was not started, because a credential of it cannot be used; on the host, "
		       "custody ledger show has the reason";
	if (str_eq(failed, BROKER_CODE_IN_OUTPUT))
		return "the tool ran, but its output has a credential and is not passed on: change the tool";
	return "the tool was killed: it took too long, or wrote too much";
}

static void end_git(struct broker_server *s, struct broker_client *c)
{
	_cleanup_jdoc_ struct jdoc *data = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (broker_git_read(c, &data, NULL, &f) < 0)
		fail(s, c, "tool-failed", fault_text(&f));
	else
		finish(s, c, data);
}

static void end_prepare(struct broker_server *s, struct broker_client *c)
{
	_cleanup_jdoc_ struct jdoc *plan = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	const int status = broker_process_reap(&c->process);
	int r = c->failed || status != 0
			? fault_set(&f, EREMOTEIO,
				    "the change could not be inspected: it is too large, or took too long")
			: broker_git_read(c, &plan, &s->found, &f);

	c->preparing = false;
	broker_tool_forget(c);
	if (r == 0) {
		decide_prepared(s, c, plan);
		return;
	}
	broker_git_drop(s);
	refuse(s, c, c->tool->name, s->found ? broker_step_name(BROKER_INSPECTION) : "tool-failed",
	       fault_text(&f), 0);
}

void broker_call_end(struct broker_server *s, struct broker_client *c)
{
	_cleanup_jdoc_ struct jdoc *data = NULL;
	_cleanup_free_ char *text = NULL;
	const char *verdict;
	int status;

	if (!c->failed)
		broker_tool_drain(c);
	if (c->preparing) {
		end_prepare(s, c);
		return;
	}
	verdict = broker_tool_take_verdict(c);
	status = broker_process_reap(&c->process);
	if (!c->failed && status == 0)
		c->failed = verdict;
	if (c->failed) {
		fail(s, c, c->failed, explain(c->failed));
	} else if (status != 0) {
		if (c->tool->builtin == BROKER_REST)
			text = broker_rest_failure(&c->output);
		if (!text && asprintf(&text, "the tool ended with status %d", status) < 0)
			text = NULL;
		fail(s, c, "tool-failed", text ? text : "the tool failed");
	} else if (broker_builtin_is_git(c->tool->builtin)) {
		end_git(s, c);
	} else {
		data = read_output(&c->output);
		if (data)
			finish(s, c, data);
		else
			fail(s, c, "output", "the tool's output is neither JSON nor text");
	}
	broker_tool_forget(c);
}
