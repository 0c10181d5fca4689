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

/* What whoever removed evidence did not get to its end with. */
static int recover_store(const struct command_call *c, struct fault *f)
{
	_cleanup_delivery_place_ struct delivery_place p = { 0 };
	int r;

	r = delivery_place(&c->dirs, c->config, &p, f);
	if (r == 0)
		r = evidence_sweep(p.staging, f);
	/* Who delivers to a share also sweeps there. */
	return r < 0 || !p.direct ? r : evidence_sweep(p.store, f);
}

/* What waits is no failure: the reason is told, and the next start tries again. */
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
		delivery_tell(&report);
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
	/* Whatever it was: the others are put right. */
	n = run_recover_sessions(&d, r < 0 ? NULL : f);
	if (r == 0)
		r = recover_store(c, n < 0 ? NULL : f);
	if (r < 0 || n < 0)
		return r < 0 ? r : n;
	printf("%d session%s recovered\n", n, n == 1 ? "" : "s");
	return deliver(c, f);
}

/* What every start does by itself, for whoever does not want to wait for the next one. */