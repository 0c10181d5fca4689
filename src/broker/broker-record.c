/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "broker/broker-impl.h"

/*
 * The values of parameters are in no record, only their digest and the tool's name: a record is kept and sent to peers, and inspection
 * does not find every secret.
 */

static void put_tool(struct jdoc *d, const struct broker_tool *t, uint64_t call)
{
	jdoc_set_string(d, "tool", t->name);
	jdoc_set_int(d, "call", (int64_t)call);
}

int broker_record_intent(struct broker_server *s, const struct broker_tool *t, uint64_t call,
			 const struct jdoc *params, struct fault *f)
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
	put_tool(d, t, call);
	jdoc_set_string(d, "params_sha256", hex);
	digest_to_hex(&t->digest, hex);
	jdoc_set_string(d, "declaration", hex);
	jdoc_set_string(d, "level", level);
	r = broker_pending_add(s, "tool.call", "ok", TAKE_PTR(d),
			       broker_tool_is_synced(t) ? LEDGER_DECIDED : LEDGER_OBSERVED, f);
	/* Before its program starts; `ping` starts none. */
	if (r == 0 && t->builtin != BROKER_PING)
		r = broker_pending_write(s, LEDGER_OBSERVED, f);
	return r;
}

/* The supervisor has to learn of it before the command does, which may exit at once. */
static void send_at_once(struct broker_server *s)
{
	(void)!broker_pending_write(s, LEDGER_OBSERVED, NULL);
	broker_pending_send(s);
}

/* Rules and places, no values. */
static void put_found(struct broker_server *s, struct jdoc *d)
{
	if (s->found)
		jdoc_set(d, "found", s->found);
	s->found = NULL;
}

void broker_record_result(struct broker_server *s, const struct broker_tool *t, uint64_t call,
			  const char *status, uint64_t ms)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();

	put_tool(d, t, call);
	jdoc_set_string(d, "result", status);
	put_found(s, d);
	jdoc_set_int(d, "ms", (int64_t)ms);
	/* The call has happened; its intent is recorded. */
	(void)!broker_pending_add(s, "tool.result", str_eq(status, "ok") ? "ok" : "failed", TAKE_PTR(d),
				  LEDGER_OBSERVED, NULL);
	if (str_eq(status, broker_step_name(BROKER_INSPECTION)))
		send_at_once(s);
}

/* TOOL is a tool of the profile, or NULL: other names are the client's text. */
void broker_record_refusal(struct broker_server *s, const char *tool, const char *code)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const bool budget = !s->over_budget && str_eq(code, broker_step_name(BROKER_BUDGET)),
		   inspection = !s->inspected && str_eq(code, broker_step_name(BROKER_INSPECTION));

	/* The supervisor learns of it from the record, however many other refusals came before. */
	put_found(s, d);
	if (s->refused++ >= BROKER_REFUSALS_RECORDED && !budget && !inspection) {
		s->unrecorded++;
		return;
	}
	s->over_budget |= budget;
	s->inspected |= inspection;
	if (tool)
		jdoc_set_string(d, "tool", tool);
	jdoc_set_string(d, "refused", code);
	(void)!broker_pending_add(s, "tool.refused", "denied", TAKE_PTR(d), LEDGER_OBSERVED, NULL);
	if (budget || inspection)
		send_at_once(s);
}

void broker_record_end(struct broker_server *s)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();

	if (s->unrecorded) {
		jdoc_set_int(d, "more", (int64_t)s->unrecorded);
		(void)!broker_pending_add(s, "tool.refused", "denied", TAKE_PTR(d), LEDGER_OBSERVED, NULL);
	}
	(void)!broker_pending_write(s, LEDGER_OBSERVED, NULL);
	broker_pending_send(s);
	(void)!ledger_sync(s->ledger, NULL);
}

void broker_record_done(struct broker_record *r)
{
	free(r->kind);
	free(r->status);
	jdoc_free(r->d);
	*r = (struct broker_record){ 0 };
}

enum broker_notice broker_record_notice(const struct broker_record *r)
{
	const char *refused = jdoc_get_string(r->d, "refused"), *result = jdoc_get_string(r->d, "result"),
		   *inspection = broker_step_name(BROKER_INSPECTION);

	if (str_eq(refused, inspection) || str_eq(result, inspection))
		return BROKER_NOTICE_INSPECTION;
	return str_eq(refused, broker_step_name(BROKER_BUDGET)) ? BROKER_NOTICE_BUDGET : BROKER_NOTICE_NONE;
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
