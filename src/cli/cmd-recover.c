/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "base/clock.h"
#include "cli/dispatch.h"
#include "cli/delivery-print.h"
#include "run/run-ledger.h"
#include "run/run-recover.h"
#include "cli/output.h"
#include "evidence/evidence-store.h"
#include "base/exit-status.h"

#define SILENCE_MS 10000

/* Completes interrupted removals of evidence. */
static int recover_store(const struct command_call *c, struct fault *f)
{
	_cleanup_delivery_place_ struct delivery_place p = { 0 };
	int r;

	r = delivery_place(&c->dirs, c->config, &p, f);
	if (r == 0)
		r = evidence_sweep(p.staging, f);
	/* On a share the delivery does this. */
	return r < 0 || !p.direct ? r : evidence_sweep(p.store, f);
}

/* Staged evidence is no failure: the reason is printed, and the next start retries. */
static int deliver(const struct command_call *c, struct fault *f)
{
	_cleanup_delivery_report_ struct delivery_report report = { 0 };
	int r;

	r = delivery_run(&(struct delivery_job){ .dirs = &c->dirs,
						 .config = c->config,
						 .silence_ms = SILENCE_MS,
						 .wait_ms = SILENCE_MS },
			 &report, f);
	if (r < 0)
		return r;
	if (report.delivered || report.waiting)
		delivery_print(&report);
	return STATUS_OK;
}

int cmd_recover(struct command_call *c, struct fault *f)
{
	_cleanup_decision_ struct decision d = DECISION_NONE;
	struct run_ledger ledger = { .decision = &d };
	char id[SESSION_ID_SIZE];
	int n, r;

	r = clock_session_id(id, f);
	if (r < 0)
		return r;
	d.dirs = &c->dirs;
	d.config = c->config;
	d.run = (struct ledger_run){ .action = "recover", .session = id, .lane = lane_name(c->dirs.lane) };
	r = run_ledger_open(&ledger, f);
	if (r < 0)
		return r;
	r = run_recover_claims(&d, f);
	/* Recover the other sessions even if this failed. */
	n = run_recover_sessions(&d, r < 0 ? NULL : f);
	if (r == 0)
		r = recover_store(c, n < 0 ? NULL : f);
	if (r < 0 || n < 0)
		return r < 0 ? r : n;
	printf("%d session%s recovered\n", n, n == 1 ? "" : "s");
	return deliver(c, f);
}

/* The same that every start of custody does. */