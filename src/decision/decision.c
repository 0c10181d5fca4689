/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decision/decision.h"

#include <errno.h>

#include "base/array.h"
#include "base/str.h"
#include "state/state-version.h"

int decision_redact(struct decision *d, char *const *flags, struct fault *f)
{
	char *const *lists[] = { d->config ? d->config->redact_flags : NULL, flags };
	_cleanup_strv_ char **all = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		for (char *const *flag = lists[i]; flag && *flag; flag++)
			if (strv_append(&all, *flag) < 0)
				return fault_errno(f, ENOMEM, "redaction rules");
	strv_free(d->redact_flags);
	d->redact_flags = TAKE_PTR(all);
	d->redact = (struct redact){ .flags = d->redact_flags,
				     .headers = d->config ? d->config->redact_headers : NULL };
	d->run.redact = &d->redact;
	return 0;
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
	strv_free(d->redact_flags);
	dirs_done(&d->sandbox);
	*d = DECISION_NONE;
}
