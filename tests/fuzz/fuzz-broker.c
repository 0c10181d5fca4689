/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "broker/broker-decide.h"
#include "broker/broker-request.h"
#include "broker/broker-token.h"
#include "call/call-reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void collect(void *arg, const char *bytes, size_t len)
{
	strbuf_add(arg, bytes, len);
}

/* The reply in pieces of STEP bytes. */
static void feed(struct call_reply *r, const struct strbuf *text, size_t step)
{
	for (size_t at = 0; at < text->len; at += step)
		call_reply_feed(r, text->text + at, text->len - at < step ? text->len - at : step);
}

/* Data of any shape arrives as it was sent. */
static void require_data(const struct jdoc *params, size_t step)
{
	_cleanup_strbuf_ struct strbuf reply = { 0 }, want = { 0 }, got = { 0 };
	struct call_reply r = { .put = collect, .arg = &got };

	broker_reply_data(&reply, params);
	if (reply.broken || jdoc_write(params, JDOC_CANONICAL, &want, NULL) < 0)
		return;
	feed(&r, &reply, step);
	if (!r.done || r.bad || !r.data || got.len != want.len || memcmp(got.text, want.text, got.len) != 0)
		abort();
}

static void require_refusal(const char *text, size_t step)
{
	_cleanup_strbuf_ struct strbuf reply = { 0 };
	struct call_reply r = { 0 };
	const char *error, *code;

	broker_reply_refusal(&reply, "scope", text);
	if (reply.broken || reply.len >= sizeof(r.head))
		return;
	feed(&r, &reply, step);
	if (!call_reply_refusal(&r, &error, &code) || strcmp(code, "scope") != 0)
		abort();
}

/* Whatever is called: without the token nothing is allowed, and nothing counts. */
static void require_decision(const struct broker_request *q)
{
	static char *const scope[] = { (char *)"issue_number=issue", NULL };
	struct broker_tool items[] = { { .name = "ping", .level = 'A' },
				       { .name = "scoped", .level = 'A', .scope = scope } };
	const struct broker_tools tools = { .open = true, .items = items, .n = 2, .calls_max = 1 };
	const struct broker_values values = { .issue = "5" };
	const struct broker_checks checks = { 0 };
	const struct digest token = { 0 };
	struct broker_call call = { .peer = true, .tool = q->tool, .params = q->params };
	struct broker_decision d;

	call.token = broker_token_is(&token, q->token);
	d = broker_decide(&tools, &values, &call, &checks, NULL);
	if (d.step != BROKER_TOKEN || d.counted)
		abort();
	call.token = true;
	d = broker_decide(&tools, &values, &call, &checks, NULL);
	if (d.step == BROKER_ALLOWED && d.tool == &items[1] && !jdoc_get(q->params, "issue_number"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_strbuf_ struct strbuf raw = { 0 }, ignored = { 0 };
	struct call_reply r = { .put = collect, .arg = &ignored };
	const char *text = (const char *)data;
	size_t step = size ? data[0] % 7 + 1 : 1;
	struct broker_request q = { 0 };
	const char *error, *code;

	strbuf_add(&raw, text, size);
	feed(&r, &raw, step);
	(void)call_reply_refusal(&r, &error, &code);
	if (broker_request_parse(text, size, &q, NULL) < 0)
		return 0;
	if (!q.params || q.params->type != JDOC_OBJECT || memchr(text, '\0', size))
		abort();
	require_decision(&q);
	require_data(q.params, step);
	require_refusal(q.tool ? q.tool : "", step);
	broker_request_done(&q);
	return 0;
}
