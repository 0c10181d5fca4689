/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of calls that were made since the last replies were sent.  They are written together: to lock the ledger costs more than
 * a record.  No reply leaves before its records are written, and a synced record is written at once, behind the others.
 */
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "broker/broker-impl.h"

void broker_record_send(int link, const char *kind, const char *status, struct jdoc *d)
{
	_cleanup_jdoc_ struct jdoc *m = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };

	jdoc_set_string(m, "k", kind);
	jdoc_set_string(m, "s", status);
	jdoc_set(m, "d", d);
	if (jdoc_write(m, JDOC_CANONICAL, &text, NULL) == 0 && text.len <= BROKER_RECORD_MAX)
		/* Waits for the supervisor: a flood of calls delays the broker, not the supervisor. */
		(void)!send(link, text.text, text.len, MSG_NOSIGNAL);
}

/* Replies that tell of calls without a record are not sent. */
static void take_back_replies(struct broker_server *s)
{
	for (size_t i = 0; i < BROKER_CLIENTS; i++) {
		struct broker_client *c = &s->clients[i];

		if (!c->unwritten)
			continue;
		c->last = true;
		strbuf_done(&c->out);
		c->out = (struct strbuf){ 0 };
		broker_reply_refusal(&c->out, "ledger", "the calls cannot be recorded");
	}
}

int broker_pending_write(struct broker_server *s, enum ledger_class class, struct fault *f)
{
	struct ledger_event events[BROKER_PENDING_MAX];
	const struct ledger_run *run = s->job->run;
	const size_t n = s->n_pending;
	int r;

	if (n == 0)
		return 0;
	broker_pending_send(s);
	for (size_t i = 0; i < n; i++)
		events[i] = (struct ledger_event){ .kind = s->pending[i].kind,
						   .session = run->session,
						   .agent = run->agent,
						   .worker = run->worker,
						   .status = s->pending[i].status,
						   .d = s->pending[i].d };
	r = ledger_append(s->ledger, events, n, class, NULL, f);
	if (r < 0)
		take_back_replies(s);
	if (r == 0)
		memcpy(s->written, s->pending, n * sizeof(s->written[0]));
	else
		for (size_t i = 0; i < n; i++)
			jdoc_free(s->pending[i].d);
	s->n_written = r == 0 ? n : 0;
	s->n_pending = 0;
	for (size_t i = 0; i < BROKER_CLIENTS; i++)
		s->clients[i].unwritten = false;
	return r;
}

void broker_pending_send(struct broker_server *s)
{
	for (size_t i = 0; i < s->n_written; i++)
		broker_record_send(s->link, s->written[i].kind, s->written[i].status,
				   TAKE_PTR(s->written[i].d));
	s->n_written = 0;
}

int broker_pending_add(struct broker_server *s, const char *kind, const char *status, struct jdoc *d,
		       enum ledger_class class, struct fault *f)
{
	s->pending[s->n_pending++] = (struct broker_pending){ .kind = kind, .status = status, .d = d };
	if (class == LEDGER_OBSERVED && s->n_pending < BROKER_PENDING_MAX)
		return 0;
	return broker_pending_write(s, class, f);
}
