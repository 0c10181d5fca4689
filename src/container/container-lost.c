/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/container-lost.h"

#include <errno.h>

#include "container/container-evidence.h"
#include "container/container-note.h"
#include "evidence/delivery.h"
#include "base/exit-status.h"
#include "ledger/ledger-claim.h"

struct story {
	const struct container_lost *lost;
	struct evidence_taken taken;
	struct fault why;
};

static void story_done(struct story *s)
{
	evidence_taken_done(&s->taken);
	fault_done(&s->why);
}

static int take(struct story *s, const struct ledger_end *end)
{
	const struct container_lost *l = s->lost;
	_cleanup_container_info_ struct container_info d = { 0 };
	const struct container_case c = { .dirs = l->dirs,
					  .config = l->config,
					  .info = &d,
					  .session = l->session,
					  .end = end,
					  .tree = l->held.tree,
					  .upper = l->held.upper,
					  .all = true,
					  .why = l->why };
	int r;

	/* Who died between the evidence and its record has left it. */
	r = delivery_adopt(l->dirs, l->config, l->session, &s->taken, &s->why);
	if (r != 0)
		return r;
	r = container_info_read(l->dir, &d, &s->why);
	return r < 0 ? r : container_evidence_take(&c, &s->taken, &s->why);
}

static void tell_evidence(struct story *s, bool started, struct ledger_end *end)
{
	/* Nothing ran: there is nothing to be evidence of. */
	if (!started)
		return;
	if (take(s, end) < 0) {
		end->evidence_error = fault_text(&s->why);
		return;
	}
	end->evidence = s->taken.path;
	end->evidence_digest = &s->taken.metadata;
	end->evidence_staged = s->taken.staged;
}

static void tell(void *arg, const struct ledger_run *names, bool started, struct ledger_end *end)
{
	const struct story *s = arg;

	tell_evidence(arg, started, end);
	container_note_end(s->lost->dirs, names->session, end);
}

int container_lost_close(const struct container_lost *c, struct ledger *l, struct fault *f)
{
	_cleanup_(story_done) struct story s = { .lost = c };
	struct ledger_end end = {
		.reason = "lost", .source = c->source, .code = STATUS_FAILED, .abnormal = true
	};
	const struct claim_end story = { .end = &end, .before = tell, .arg = &s };

	int r = claim_close(c->dirs->state, l, c->session, &story, f);

	if (r > 0 && s.taken.staged)
		delivery_kick(c->dirs, c->config);
	return r;
}
