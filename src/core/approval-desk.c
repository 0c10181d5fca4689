/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/approval-desk.h"

#include <errno.h>

#include "core/approver.h"
#include "core/state-version.h"

static int set_entries(struct approval_desk *d, const struct config *c)
{
	if (c->n_approvers == 0)
		return 0;
	d->entries = calloc(c->n_approvers, sizeof(*d->entries));
	if (!d->entries)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_approvers; i++) {
		const struct config_approver *a = &c->approvers[i];
		struct approver_entry *e = &d->entries[i];

		*e = (struct approver_entry){
			.name = a->name,
			.key = a->key,
			.pin_key = a->pin_key,
			.uid = a->uid == CONFIG_NO_UID ? APPROVER_NO_UID : (uid_t)a->uid,
		};
		if (a->lanes != NETWORK_CLASS_ANY)
			e->lane = lane_name(a->lanes == NETWORK_CLASS_PROD ? LANE_PROD : LANE_SANDBOX);
	}
	return 0;
}

int approval_desk_open(const struct dirs *dirs, const struct config *config, struct ledger *ledger,
		       struct approval_desk *ret, struct fault *f)
{
	_cleanup_approval_desk_ struct approval_desk d = APPROVAL_DESK_NONE;
	int r;

	d.rules = (struct approval_rules){
		.configured = config->has_approvers,
		.allow_self = config->allow_self,
		.min_approvals = (unsigned int)config->min_approvals,
		.request_expiry_s = config->request_expiry_s,
		.grant_max_s = config->grant_max_s,
		.grant_max_uses = config->grant_max_uses,
	};
	if (set_entries(&d, config) < 0)
		return fault_errno(f, ENOMEM, "approvers");
	d.rules.approvers = d.entries;
	d.rules.n_approvers = config->n_approvers;
	/* Of another version or another lane: nothing in it is believed. */
	r = state_require(dirs, f);
	if (r < 0)
		return r;
	r = desk_open(dirs->state, lane_name(dirs->lane), &d.rules, ledger, &d.desk, f);
	if (r < 0)
		return r;
	*ret = d;
	ret->desk.rules = &ret->rules;
	d = (struct approval_desk)APPROVAL_DESK_NONE;
	return 0;
}

int approval_desk_open_to_write(const struct dirs *d, const struct config *config, struct ledger **ret_ledger,
				struct approval_desk *ret, struct fault *f)
{
	const struct ledger_options options = { .create = true };
	_cleanup_ledger_ struct ledger *l = NULL;
	int r = ledger_open(d->state, &options, &l, NULL, f);

	if (r == 0)
		r = approval_desk_open(d, config, l, ret, f);
	if (r == 0)
		*ret_ledger = TAKE_PTR(l);
	return r;
}

void approval_desk_done(struct approval_desk *d)
{
	desk_done(&d->desk);
	free(d->entries);
	*d = (struct approval_desk)APPROVAL_DESK_NONE;
}
