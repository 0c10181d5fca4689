/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-housekeeping.h"

#include "base/log.h"
#include "base/seam.h"
#include "evidence/delivery.h"
#include "review/review-prune.h"
#include "run/run-recover.h"

static void report(int r, struct fault *f)
{
	if (r < 0)
		log_info("%s, ignoring", fault_text(f));
	fault_done(f);
}

void run_housekeeping(const struct run_ledger *r)
{
	const struct decision *d = r->decision;
	_cleanup_fault_ struct fault f = { 0 };
	int e;

	report(run_recover_claims(d, &f), &f);
	run_ledger_push(r);
	seam("peer-told");
	e = run_recover_start(d, &f);
	if (e >= 0)
		e = review_prune_hourly(d->dirs, d->config, NULL, &f);
	report(e, &f);
	delivery_kick(d->dirs, d->config);
}
