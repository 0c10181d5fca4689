/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/broker-request.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

static int require_keys(const struct jdoc *d, struct fault *f)
{
	for (size_t i = 0; i < d->n_members; i++)
		if (!str_eq(d->members[i].key, "token") && !str_eq(d->members[i].key, "tool") &&
		    !str_eq(d->members[i].key, "params") && !str_eq(d->members[i].key, "list"))
			return fault_set(f, EINVAL,
					 "request: unknown key; allowed are token, tool and params, or list");
	return 0;
}

static int take_list(struct broker_request *q, struct fault *f)
{
	q->list = jdoc_get(q->doc, "list") != NULL;
	if (q->list && !str_eq(jdoc_get_string(q->doc, "list"), "tools"))
		return fault_set(f, EINVAL, "request: 'list' must be \"tools\"");
	if (q->list && (jdoc_get(q->doc, "tool") || jdoc_get(q->doc, "params")))
		return fault_set(f, EINVAL, "request: 'list' goes with neither tool nor params");
	return 0;
}

int broker_request_parse(const char *line, size_t len, struct broker_request *ret, struct fault *f)
{
	static const struct jdoc_limits limits = { .size_max = BROKER_LINE_MAX,
						   .depth_max = BROKER_DEPTH_MAX };
	_cleanup_broker_request_ struct broker_request q = { 0 };
	int r;

	if (memchr(line, '\0', len))
		return fault_set(f, EINVAL, "request: a NUL byte is not JSON");
	r = jdoc_parse(line, len, "request", &limits, &q.doc, f);
	if (r < 0)
		return r;
	if (q.doc->type != JDOC_OBJECT)
		return fault_set(f, EINVAL, "request: not an object");
	r = require_keys(q.doc, f);
	if (r == 0)
		r = take_list(&q, f);
	if (r < 0)
		return r;
	q.token = jdoc_get_string(q.doc, "token");
	q.tool = jdoc_get_string(q.doc, "tool");
	if (!jdoc_get(q.doc, "params"))
		(void)jdoc_set_object(q.doc, "params");
	q.params = jdoc_get(q.doc, "params");
	if (!q.params)
		return fault_errno(f, ENOMEM, "request");
	if (q.params->type != JDOC_OBJECT)
		return fault_set(f, EINVAL, "request: 'params' is not an object");
	*ret = q;
	q.doc = NULL;
	return 0;
}

void broker_request_done(struct broker_request *r)
{
	jdoc_free(r->doc);
	*r = (struct broker_request){ 0 };
}

void broker_reply_data(struct strbuf *out, const struct jdoc *data)
{
	strbuf_puts(out, "{\"ok\":true,\"data\":");
	if (jdoc_write(data, JDOC_CANONICAL, out, NULL) < 0)
		out->broken = true;
	strbuf_puts(out, "}\n");
}

void broker_reply_refusal(struct strbuf *out, const char *code, const char *text)
{
	strbuf_puts(out, "{\"ok\":false,\"error\":");
	jdoc_quote(out, text);
	strbuf_puts(out, ",\"code\":");
	jdoc_quote(out, code);
	strbuf_puts(out, "}\n");
}
