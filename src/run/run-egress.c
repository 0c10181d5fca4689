/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-egress.h"

#include <errno.h>

#include "base/fd.h"
#include "base/path.h"
#include "ledger/ledger-audit.h"
#include "run/run-impl.h"

#define RECORDS_MAX 32 /* of one step */

static bool is_asked(const struct run *run)
{
	return run->plan.asked.network == PROFILE_NETWORK_ALLOW;
}

void run_egress_open(struct run_egress *e, struct run *run)
{
	if (is_asked(run))
		e->run = run;
}

int run_egress_prepare(struct run_egress *e, pid_t pid, struct fault *f)
{
	const struct profile *p = &e->run->plan.asked;
	uint16_t ports[HOST_RULE_PORTS_MAX];
	const size_t n = host_rules_ports(p->network_hosts, p->n_network_hosts, ports);
	int r = egress_net_prepare(pid, ports, n, e->listeners, f);

	if (r == 0)
		e->n_listeners = EGRESS_LISTEN_PORTS + n;
	return r;
}

/* Names are the sandbox's text: a secret in one is no less a secret. */
static void redact_names(const struct run_egress *e, struct jdoc *d)
{
	static const char *const keys[] = { "host", "said" };

	for (size_t i = 0; i < 2; i++) {
		const char *name = jdoc_get_string(d, keys[i]);
		_cleanup_free_ char *text =
			name ? redact_message(name, NULL, e->run->decision.run.redact) : NULL;

		/* Without memory the document is broken, and not written. */
		if (name)
			jdoc_set(d, keys[i], text ? ledger_text(text) : NULL);
	}
}

/* A full disk must not end the run: it is noticed at the end's record. */
static void record(const struct run_egress *e, struct egress_record *r)
{
	const struct ledger_run *l = &e->run->decision.run;
	struct ledger_event v = { .kind = r->kind,
				  .session = e->run->id,
				  .agent = l->agent,
				  .worker = l->worker,
				  .status = r->status,
				  .d = r->d };

	redact_names(e, r->d);
	(void)!ledger_append(e->run->decision.ledger, &v, 1, LEDGER_OBSERVED, NULL, NULL);
	if (l->audit)
		(void)!audit_append(l->audit, &v, NULL);
}

static enum warden_side_state step(void *arg)
{
	const struct run_egress *e = arg;

	int got = 1;

	for (int n = 0; n < RECORDS_MAX && got > 0; n++) {
		_cleanup_egress_record_ struct egress_record r = { 0 };

		got = egress_receive(&e->egress, false, &r);
		if (got > 0)
			record(e, &r);
	}
	/* The last ones of a burst are synced with the next heartbeat. */
	if (ledger_sync_due_ms(e->run->decision.ledger) == 0)
		(void)!ledger_sync(e->run->decision.ledger, NULL);
	return got > 0 || got == -EAGAIN ? WARDEN_SIDE_OK : WARDEN_SIDE_LOST;
}

static void close_listeners(struct run_egress *e)
{
	for (size_t i = 0; i < e->n_listeners; i++)
		(void)fd_close(e->listeners[i]);
	e->n_listeners = 0;
}

int run_egress_start(struct run_egress *e, struct fault *f)
{
	_cleanup_free_ char *program = e->run ? path_join(e->run->plan.dirs.libexec, EGRESS_PROGRAM) : NULL;
	const struct profile *p;
	struct egress_job job;
	int r;

	if (!e->run)
		return 0;
	if (!program)
		return fault_errno(f, ENOMEM, EGRESS_PROGRAM);
	p = &e->run->plan.asked;
	job = (struct egress_job){ .program = program,
				   .profile = p->name,
				   .rules = p->network_hosts,
				   .n_rules = p->n_network_hosts,
				   .listeners = e->listeners,
				   .n_listeners = e->n_listeners };
	r = egress_start(&job, &e->egress, f);
	/* With custody-egress they are gone: connecting fails. */
	close_listeners(e);
	if (r == 0)
		e->side = (struct warden_side){ .fd = e->egress.link, .step = step, .arg = e };
	return r;
}

void run_egress_end(struct run_egress *e)
{
	if (!e->run || e->egress.link < 0)
		return;
	egress_finish(&e->egress);
	for (;;) {
		_cleanup_egress_record_ struct egress_record r = { 0 };

		if (egress_receive(&e->egress, true, &r) <= 0)
			break;
		record(e, &r);
	}
	egress_done(&e->egress);
}

void run_egress_done(struct run_egress *e)
{
	egress_done(&e->egress);
	close_listeners(e);
}
