/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/container-lost.h"

#include <errno.h>

#include "container/container-evidence.h"
#include "container/container-note.h"
#include "evidence/delivery.h"
#include "evidence/evidence-capture.h"
#include "evidence/evidence-ledger.h"
#include "ledger/ledger-claim.h"
#include "session/session-end.h"

struct closing {
	const struct container_lost *lost;
	struct evidence_taken taken;
	struct fault why; /* evidence could not be captured */
};

static void closing_done(struct closing *c)
{
	evidence_taken_done(&c->taken);
	fault_done(&c->why);
}

static int capture(struct closing *x, const struct ledger_end *end)
{
	const struct container_lost *l = x->lost;
	_cleanup_container_info_ struct container_info d = { 0 };
	const struct container_case c = { .dirs = l->dirs,
					  .config = l->config,
					  .info = &d,
					  .session = l->session,
					  .end = end,
					  .tree = l->held.tree,
					  .upper = l->held.upper,
					  .scope = EVIDENCE_SCOPE_ALL,
					  .why = l->why };
	int r;

	/* custody-warden may have died between writing the evidence and recording it. */
	r = evidence_adopt(l->dirs, l->config, l->session, &x->taken, &x->why);
	if (r != 0)
		return r;
	r = container_info_read(l->dir, &d, &x->why);
	return r < 0 ? r : container_evidence_capture(&c, &x->taken, &x->why);
}

static void add_evidence(struct closing *x, bool started, struct ledger_end *end)
{
	/* Without a payload nothing changed in the worktree. */
	if (!started)
		return;
	if (capture(x, end) < 0)
		end->evidence_error = fault_text(&x->why);
	else
		evidence_ledger_end(&x->taken, end);
}

static void before_record(void *arg, const struct ledger_run *names, bool started, struct ledger_end *end)
{
	const struct closing *x = arg;

	add_evidence(arg, started, end);
	container_note_end(x->lost->dirs, names->session, end);
}

int container_lost_close(const struct container_lost *c, struct ledger *l, struct fault *f)
{
	_cleanup_(closing_done) struct closing x = { .lost = c };
	struct ledger_end end = session_end_lost(c->source);
	const struct claim_end close = { .end = &end, .before = before_record, .arg = &x };
	int r;

	r = claim_close(c->dirs->state, l, c->session, &close, f);
	if (r > 0 && x.taken.staged)
		delivery_kick(c->dirs, c->config);
	return r;
}
