/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decision/decision.h"

#include <errno.h>

#include "state/state-version.h"

int decision_redact(struct decision *d, char *const *flags, struct fault *f)
{
	int r = config_redact_set(&d->redact, d->config, flags, f);

	if (r < 0)
		return r;
	d->run.redact = &d->redact.rules;
	return 0;
}

void decision_redact_with(struct decision *d, const struct digest_key *key)
{
	d->redact.rules.key = key->bytes;
}

void decision_name_digest(struct decision *d, const struct digest *digest)
{
	d->digest = *digest;
	subject_digest_to_text(digest, d->digest_text);
	d->run.digest = d->digest_text;
}

int decision_enter(struct decision *d, const struct lane_ask *ask, struct fault *f)
{
	int r;

	d->refused = "lane";
	r = lane_gate(ask, &d->pass, f);
	if (r >= 0)
		return r;
	d->status = STATUS_LANE;
	/* A state that is stamped for the other lane, or not readable, gets no record. */
	if (dirs_load(&d->sandbox, NULL) < 0 || state_require(&d->sandbox, NULL) < 0)
		d->refused = NULL;
	d->dirs = &d->sandbox;
	return r;
}

void decision_done(struct decision *d)
{
	lane_pass_free(d->pass);
	grant_set_done(&d->grants);
	claim_done(&d->claim);
	approval_lane_done(&d->approval);
	ledger_free(d->ledger);
	verdict_free(d->verdict);
	jdoc_free(d->verdict_document);
	free(d->approvers);
	jdoc_free(d->standing);
	verdict_free(d->standing_verdict);
	free(d->standing_note);
	config_redact_done(&d->redact);
	dirs_done(&d->sandbox);
	*d = DECISION_NONE;
}
