/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "approval/grant-impl.h"

/* clang-format off */
static const struct {
	const char *id, *text;
} reasons[_GRANT_REASON_MAX] = {
	[GRANT_UNDECIDED]         = { "undecided",         "not checked yet" },
	[GRANT_VALID]             = { "valid",             "valid" },
	[GRANT_NONE]              = { "none",              "no approval exists" },
	[GRANT_EXPIRED]           = { "expired",           "expired: request a new approval" },
	[GRANT_REVOKED]           = { "revoked",           "revoked" },
	[GRANT_CONSUMED]          = { "consumed",          "all uses are consumed: request a new approval" },
	[GRANT_RESERVED]          = { "reserved",          "its last use is reserved by a session that is about to start" },
	[GRANT_FOREIGN_LANE]      = { "foreign-lane",      "granted for another lane" },
	[GRANT_FOREIGN_LEDGER]    = { "foreign-ledger",    "granted for another ledger, that is another state directory: request it here, then 'custody approve' it" },
	[GRANT_UNBOUND]           = { "unbound",           "names no ledger: signed by an older version; request a new approval" },
	[GRANT_UNKNOWN_FLEET]     = { "unknown-fleet",     "granted for a fleet without this ledger: the admin adds the key of 'custody ledger show --key' to `fleets` in custody.json" },
	[GRANT_FLEET_FOR_C]       = { "fleet-for-c",       "a level C is for one ledger, not for a fleet: approve it without --fleet" },
	[GRANT_EDITED]            = { "edited",            "the statement does not match its signature" },
	[GRANT_UNKNOWN_KEY]       = { "unknown-key",       "signed with a key of no approver of this lane: run 'custody key ls'" },
	[GRANT_WRONG_DIGEST]      = { "wrong-digest",      "granted for another digest" },
	[GRANT_LEVEL_TOO_LOW]     = { "level-too-low",     "granted without the PIN, which this level requires" },
	[GRANT_SELF_APPROVAL]     = { "self-approval",     "the requester may not approve (allow_self): another approver must" },
	[GRANT_NOT_YET_VALID]     = { "not-yet-valid",     "decided in the future: the clock was set back" },
	[GRANT_TOO_FEW_APPROVALS] = { "too-few-approvals", "more approvals are required (min_approvals)" },
	[GRANT_UNREGISTERED]      = { "unregistered",      "its uses are not registered: the file was copied here by hand, or they were removed" },
};
/* clang-format on */

const char *grant_reason_id(enum grant_reason r)
{
	return (unsigned int)r < _GRANT_REASON_MAX ? reasons[r].id : "undecided";
}

const char *grant_reason_text(enum grant_reason r)
{
	return (unsigned int)r < _GRANT_REASON_MAX ? reasons[r].text : reasons[GRANT_UNDECIDED].text;
}

static const struct approver *find_approver(const struct approver_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->items[i].name, name))
			return &l->items[i];
	return NULL;
}

const struct approval_fleet *grant_find_fleet(const struct approval_rules *rules, const char *name)
{
	for (size_t i = 0; i < rules->n_fleets; i++)
		if (str_eq(rules->fleets[i].name, name))
			return &rules->fleets[i];
	return NULL;
}

bool grant_fleet_has(const struct approval_fleet *fleet, const char *ledger)
{
	return fleet && strv_has(fleet->ledgers, ledger);
}

/*
 * Uses are counted beside a ledger.  In a state directory of its own a requester would have them again, so the
 * statement names the ledger; a fleet must be in the statement and in the admin's configuration.
 */
static enum grant_reason judge_ledger(const struct approval_store *d, const struct grant *g,
				      const char *ledger)
{
	if (!g->ledgers || !g->ledgers[0])
		return GRANT_UNBOUND;
	if (g->fleet[0] && g->level == 'C')
		return GRANT_FLEET_FOR_C;
	if (!strv_has(g->ledgers, ledger))
		return g->fleet[0] ? GRANT_UNKNOWN_FLEET : GRANT_FOREIGN_LEDGER;
	if (g->fleet[0] && !grant_fleet_has(grant_find_fleet(d->rules, g->fleet), ledger))
		return GRANT_UNKNOWN_FLEET;
	return GRANT_VALID;
}

/* The key proves the level, whatever the statement contains. */
enum grant_reason grant_judge_text(const struct approval_store *d, const struct grant *g,
				   const struct approver_list *l, const char *ledger,
				   const struct approver **ret_by)
{
	const struct approver *by = find_approver(l, g->approver);
	bool with_pin, plain;

	*ret_by = NULL;
	if (!str_eq(g->lane, d->lane))
		return GRANT_FOREIGN_LANE;
	if (!by)
		return GRANT_UNKNOWN_KEY;
	with_pin = by->has_pin_key && str_eq(by->pin_key_id, g->key_id);
	plain = by->has_key && str_eq(by->key_id, g->key_id);
	if (!with_pin && !plain)
		return GRANT_UNKNOWN_KEY;
	if (!by->counts)
		return by->lane[0] && !str_eq(by->lane, d->lane) ? GRANT_FOREIGN_LANE : GRANT_UNKNOWN_KEY;
	if (!grant_signature_verify(g, with_pin ? &by->pin_key : &by->key))
		return GRANT_EDITED;
	if (g->level == 'C' && !with_pin)
		return GRANT_LEVEL_TOO_LOW;
	*ret_by = by;
	return judge_ledger(d, g, ledger);
}

uint64_t grant_end_us(const struct approval_store *d, const struct grant *g)
{
	uint64_t max_s = d->rules->grant_max_s ? d->rules->grant_max_s : APPROVAL_GRANT_MAX_S;
	uint64_t life_us = g->not_after_us - g->decided.wall_us;

	return g->decided.wall_us + (life_us / 1000000 < max_s ? life_us : max_s * 1000000);
}

/* A PIN is for one start: a C with several uses would be a C without it.  A standing approval answers no C. */
uint64_t grant_uses_allowed(const struct approval_store *d, const struct grant *g)
{
	uint64_t max = d->rules->grant_max_uses ? d->rules->grant_max_uses : APPROVAL_GRANT_MAX_USES;

	if (g->standing)
		return g->uses;
	if (g->level == 'C')
		return 1;
	return g->uses < max ? g->uses : max;
}

static enum grant_reason judge_time(const struct approval_store *d, const struct grant *g,
				    const struct moment *now)
{
	uint64_t end_us = grant_end_us(d, g);

	if (now->wall_us + GRANT_CLOCK_SLACK_US < g->decided.wall_us)
		return GRANT_NOT_YET_VALID;
	if (now->wall_us >= end_us)
		return GRANT_EXPIRED;
	/* Signed since this machine booted: then the boot clock, which cannot be set, counts too. */
	if (str_eq(now->boot, g->decided.boot)) {
		if (now->boot_ns < g->decided.boot_ns)
			return GRANT_NOT_YET_VALID;
		if ((now->boot_ns - g->decided.boot_ns) / 1000 >= end_us - g->decided.wall_us)
			return GRANT_EXPIRED;
	}
	return GRANT_VALID;
}

bool grant_is_self(const struct approval_store *d, const struct grant *g, const struct approver *by,
		   const struct grant_query *q)
{
	if (d->rules->allow_self)
		return false;
	for (char **a = g->askers; a && *a; a++)
		if (request_asker_is(*a, by->uid, by->name))
			return true;
	if (!q)
		return false;
	/* `sudo custody run` still counts as the login user. */
	if (by->uid != APPROVER_NO_UID &&
	    (q->uid == by->uid || (q->uid != APPROVER_NO_UID && d->login == by->uid)))
		return true;
	return str_eq(q->user, by->name);
}

static enum grant_reason judge_uses(const struct grant_judgement *j, const struct grant *g,
				    const struct grant_uses *u)
{
	uint64_t allowed = grant_uses_allowed(j->store, g), others = u->n_reserved;
	bool own = grant_uses_find(u, j->session) != NULL;

	if (j->query && j->query->once)
		allowed = 1;
	if (u->revoked_by)
		return GRANT_REVOKED;
	if (u->used >= allowed)
		return GRANT_CONSUMED;
	others -= own;
	if (j->only_reserved && !own)
		return GRANT_NONE;
	return u->used + others >= allowed ? GRANT_RESERVED : GRANT_VALID;
}

enum grant_reason grant_judge_over(const struct grant_judgement *j, const struct grant_item *item)
{
	const struct grant *g = &item->found.grant;

	if (!str_eq(g->lane, j->store->lane))
		return GRANT_FOREIGN_LANE;
	if (item->uses.revoked_by)
		return GRANT_REVOKED;
	if (item->uses.used >= grant_uses_allowed(j->store, g))
		return GRANT_CONSUMED;
	return judge_time(j->store, g, &j->now) == GRANT_EXPIRED ? GRANT_EXPIRED : GRANT_VALID;
}

enum grant_reason grant_judge(const struct grant_judgement *j, const struct grant_item *item)
{
	const struct grant *g = &item->found.grant;
	const struct grant_query *q = j->query;
	enum grant_reason r;

	if (q && q->digest && (!digest_equal(q->digest, &g->digest) || q->standing != (g->standing != NULL)))
		return GRANT_WRONG_DIGEST;
	if (q && q->standing && q->level != 'B')
		return GRANT_LEVEL_TOO_LOW;
	if (q && q->level && g->level < q->level)
		return GRANT_LEVEL_TOO_LOW;
	r = judge_uses(j, g, &item->uses);
	if (r == GRANT_REVOKED || r == GRANT_CONSUMED || r == GRANT_NONE)
		return r;
	if (judge_time(j->store, g, &j->now) != GRANT_VALID)
		return judge_time(j->store, g, &j->now);
	if (q && grant_is_self(j->store, g, item->approver, q))
		return GRANT_SELF_APPROVAL;
	return r;
}
