/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-action.h"

#include "ledger/ledger.h"

int ledger_action_append(const char *state, const char *user, const char *kind, const char *session,
			 struct jdoc *d, struct fault *f)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	const struct ledger_event e = { .kind = kind, .session = session, .d = d };
	int r;

	r = ledger_open(state, &(struct ledger_options){ .create = true }, &l, NULL, f);
	if (r < 0)
		return r;
	jdoc_set(d, "by", ledger_text(user));
	return ledger_append(l, &e, 1, LEDGER_DECIDED, NULL, f);
}

int ledger_action_record(const char *state, const char *user, const char *kind, const char *session,
			 const char *why, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();

	if (why)
		jdoc_set(d, "why", ledger_text(why));
	return ledger_action_append(state, user, kind, session, d, f);
}
