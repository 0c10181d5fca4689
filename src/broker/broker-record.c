/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "broker/broker-impl.h"

/*
 * The values of parameters are in no record, only their digest and the tool's name: a record is kept and sent to peers, and nothing
 * has looked for secrets in them.
 */

static void send_record(const struct broker_server *s, const struct ledger_event *e)
{
	_cleanup_jdoc_ struct jdoc *m = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };

	jdoc_set_string(m, "k", e->kind);
	jdoc_set_string(m, "s", e->status);
	jdoc_set(m, "d", jdoc_copy(e->d));
	if (jdoc_write(m, JDOC_CANONICAL, &text, NULL) == 0 && text.len <= BROKER_RECORD_MAX)
		/* Waits for the supervisor: a flood of calls delays the broker, not the supervisor. */
		(void)!send(s->link, text.text, text.len, MSG_NOSIGNAL);
}

static int append(struct broker_server *s, const char *kind, const char *status, const struct jdoc *d,
		  enum ledger_class class, struct fault *f)
{
	const struct ledger_run *run = s->job->run;
	const struct ledger_event e = { .kind = kind,
					.session = run->session,
					.agent = run->agent,
					.worker = run->worker,
					.status = status,
					.d = d };
	int r = ledger_append(s->ledger, &e, 1, class, NULL, f);

	if (r == 0)
		send_record(s, &e);
	return r;
}

static void put_tool(struct jdoc *d, const struct broker_tool *t, uint64_t call)
{
	jdoc_set_string(d, "tool", t->name);
	jdoc_set_int(d, "call", (int64_t)call);
}

int broker_record_intent(struct broker_server *s, const struct broker_tool *t, const struct jdoc *params,
			 struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	const char level[2] = { t->level, '\0' };
	char hex[DIGEST_HEX_SIZE];
	struct digest digest;
	int r = jdoc_write(params, JDOC_CANONICAL, &text, f);

	if (r < 0)
		return r;
	digest_bytes(text.text, text.len, &digest);
	digest_to_hex(&digest, hex);
	put_tool(d, t, s->calls);
	jdoc_set_string(d, "params_sha256", hex);
	digest_to_hex(&t->digest, hex);
	jdoc_set_string(d, "declaration", hex);
	jdoc_set_string(d, "level", level);
	return append(s, "tool.call", "ok", d, t->read ? LEDGER_OBSERVED : LEDGER_DECIDED, f);
}

void broker_record_result(struct broker_server *s, const struct broker_tool *t, uint64_t call,
			  const char *status, uint64_t ms)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();

	put_tool(d, t, call);
	jdoc_set_string(d, "result", status);
	jdoc_set_int(d, "ms", (int64_t)ms);
	/* The call has happened; its intent is recorded. */
	(void)!append(s, "tool.result", str_eq(status, "ok") ? "ok" : "failed", d, LEDGER_OBSERVED, NULL);
}

/* TOOL is a tool of the profile, or NULL: other names are the client's text. */
void broker_record_refusal(struct broker_server *s, const char *tool, const char *code)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();

	const bool first = !s->over_budget && str_eq(code, broker_step_name(BROKER_BUDGET));

	/* The supervisor learns of it from the record, however many other refusals came before. */
	if (s->refused++ >= BROKER_REFUSALS_RECORDED && !first) {
		s->unrecorded++;
		return;
	}
	s->over_budget |= first;
	if (tool)
		jdoc_set_string(d, "tool", tool);
	jdoc_set_string(d, "refused", code);
	(void)!append(s, "tool.refused", "denied", d, LEDGER_OBSERVED, NULL);
}

void broker_record_end(struct broker_server *s)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();

	if (s->unrecorded) {
		jdoc_set_int(d, "more", (int64_t)s->unrecorded);
		(void)!append(s, "tool.refused", "denied", d, LEDGER_OBSERVED, NULL);
	}
	(void)!ledger_sync(s->ledger, NULL);
}

void broker_record_done(struct broker_record *r)
{
	free(r->kind);
	free(r->status);
	jdoc_free(r->d);
	*r = (struct broker_record){ 0 };
}

static char *copy_text(const struct jdoc *m, const char *key)
{
	const char *text = jdoc_get_string(m, key);

	return text ? strdup(text) : NULL;
}

int broker_receive(const struct broker *b, bool wait, struct broker_record *ret)
{
	struct pollfd p = { .fd = b->link, .events = POLLIN };
	_cleanup_jdoc_ struct jdoc *m = NULL;
	char text[BROKER_RECORD_MAX];
	ssize_t n;

	if (wait && poll(&p, 1, BROKER_END_MS) == 0)
		return 0;
	do
		n = recv(b->link, text, sizeof(text), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 && errno == EAGAIN ? -EAGAIN : 0;
	if (jdoc_parse(text, (size_t)n, "broker", NULL, &m, NULL) < 0)
		return 0;
	*ret = (struct broker_record){ .kind = copy_text(m, "k"), .status = copy_text(m, "s") };
	ret->d = jdoc_get(m, "d") ? jdoc_copy(jdoc_get(m, "d")) : NULL;
	if (ret->kind && ret->status && ret->d)
		return 1;
	broker_record_done(ret);
	return 0;
}
