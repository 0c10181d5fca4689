/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/approval-lane.h"

#include <errno.h>
#include <string.h>

#include "approval/approver.h"
#include "state/state-version.h"

static int set_entries(struct approval_lane *d, const struct config *c)
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

static int set_fleets(struct approval_lane *d, const struct config *c)
{
	d->fleets = calloc(c->n_fleets + 1, sizeof(*d->fleets));
	if (!d->fleets)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_fleets; i++)
		d->fleets[i] =
			(struct approval_fleet){ .name = c->fleets[i].name, .ledgers = c->fleets[i].ledgers };
	d->rules.fleets = d->fleets;
	d->rules.n_fleets = c->n_fleets;
	return 0;
}

int approval_lane_open(const struct dirs *dirs, const struct config *config, struct ledger *ledger,
		       struct approval_lane *ret, struct fault *f)
{
	_cleanup_approval_lane_ struct approval_lane d = APPROVAL_LANE_NONE;
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
	if (set_fleets(&d, config) < 0)
		return fault_errno(f, ENOMEM, "fleets");
	d.rules.approvers = d.entries;
	d.rules.n_approvers = config->n_approvers;
	/* State of another version or lane: nothing in it is trusted. */
	r = state_require(dirs, f);
	if (r < 0)
		return r;
	r = approval_store_open(dirs->state, lane_name(dirs->lane), &d.rules, ledger, &d.store, f);
	if (r < 0)
		return r;
	*ret = d;
	ret->store.rules = &ret->rules;
	d = (struct approval_lane)APPROVAL_LANE_NONE;
	return 0;
}

int approval_lane_open_to_write(const struct dirs *d, const struct config *config, struct ledger **ret_ledger,
				struct approval_lane *ret, struct fault *f)
{
	const struct ledger_options options = { .create = true };
	_cleanup_ledger_ struct ledger *l = NULL;
	int r = ledger_open(d->state, &options, &l, NULL, f);

	if (r == 0)
		r = approval_lane_open(d, config, l, ret, f);
	if (r == 0)
		*ret_ledger = TAKE_PTR(l);
	return r;
}

static bool is_named(const struct jdoc *names, const char *name)
{
	for (size_t k = 0; k < names->n_items; k++)
		if (names->items[k]->type == JDOC_STRING && strcmp(names->items[k]->string, name) == 0)
			return true;
	return false;
}

static size_t choose(struct approval_lane *d, const struct jdoc *names)
{
	size_t n = 0;

	for (size_t i = 0; i < d->approvers.n; i++) {
		const struct approver *a = &d->approvers.items[i];
		char(*keys)[APPROVER_KEY_SIZE] = d->chosen_keys[n];

		if (!a->counts || !is_named(names, a->name))
			continue;
		if (a->has_key)
			approver_key_text(&a->key, keys[0]);
		if (a->has_pin_key)
			approver_key_text(&a->pin_key, keys[1]);
		d->chosen[n++] = (struct approver_entry){
			.name = a->name,
			.key = a->has_key ? keys[0] : NULL,
			.pin_key = a->has_pin_key ? keys[1] : NULL,
			.lane = a->lane[0] ? a->lane : NULL,
			/*
			 * Only settings of the admin are copied; values found with the key are found again.
			 */
			.uid = a->own_uid ? a->uid : APPROVER_NO_UID,
		};
	}
	return n;
}

static int choose_approvers(struct approval_lane *d, const struct jdoc *names, const char *profile,
			    struct fault *f)
{
	size_t n;
	int r = approver_list(&d->store, &d->approvers, f);

	if (r < 0)
		return r;
	d->chosen = calloc(d->approvers.n + 1, sizeof(*d->chosen));
	d->chosen_keys = calloc(d->approvers.n + 1, sizeof(*d->chosen_keys));
	if (!d->chosen || !d->chosen_keys)
		return fault_errno(f, ENOMEM, "approvers");
	n = choose(d, names);
	if (n == 0)
		return fault_set(f, EPERM,
				 "profile '%s': no approver in governance.approvers may approve in this lane "
				 "(run 'custody key ls')",
				 profile);
	d->rules.approvers = d->chosen;
	d->rules.n_approvers = n;
	d->rules.configured = d->rules.narrowed = true;
	return 0;
}

int approval_lane_tighten(struct approval_lane *d, const struct jdoc *governance, const char *profile,
			  struct fault *f)
{
	const struct jdoc *v = jdoc_get(governance, "min_approvals");

	if (v && v->type == JDOC_INT && v->integer > (int64_t)d->rules.min_approvals)
		d->rules.min_approvals = (unsigned int)v->integer;
	v = jdoc_get(governance, "allow_self");
	if (v && v->type == JDOC_BOOL && !v->boolean)
		d->rules.allow_self = false;
	v = jdoc_get(governance, "approvers");
	return v && v->type == JDOC_ARRAY ? choose_approvers(d, v, profile, f) : 0;
}

void approval_lane_done(struct approval_lane *d)
{
	approval_store_done(&d->store);
	free(d->entries);
	free(d->fleets);
	approver_list_done(&d->approvers);
	free(d->chosen);
	free(d->chosen_keys);
	*d = (struct approval_lane)APPROVAL_LANE_NONE;
}
