/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "evidence/evidence-retention.h"

#define DAY_US ((uint64_t)24 * 3600 * 1000000)

static bool may_go(const struct evidence_list *l, const struct evidence_rules *r, size_t i,
		   const enum evidence_verdict *verdicts)
{
	const struct evidence_item *item = l->items + i;

	return verdicts[i] == EVIDENCE_STAYS && !item->pinned && !(r->keep && str_eq(item->name, r->keep));
}

/* If the clock was set back, the age is 0. */
static bool is_too_old(const struct evidence_item *item, const struct evidence_rules *r)
{
	uint64_t age = r->now_us > item->taken_us ? r->now_us - item->taken_us : 0;

	if (item->has_retention)
		return age / 1000000 >= item->retention_s;
	return r->retention_days == 0 || age / DAY_US >= r->retention_days;
}

static bool is_older(const struct evidence_item *item, const struct evidence_rules *r)
{
	uint64_t age = r->now_us > item->taken_us ? r->now_us - item->taken_us : 0;

	return r->set_older && age / 1000000 >= r->older_s;
}

static uint64_t weight_of(const struct evidence_list *l, const enum evidence_verdict *verdicts,
			  const char *agent)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->n; i++)
		if (verdicts[i] == EVIDENCE_STAYS && str_eq(l->items[i].agent, agent))
			sum += l->items[i].bytes;
	return sum;
}

/* The oldest removable item of the agent with most bytes; l->n: none. */
static size_t next_to_go(const struct evidence_list *l, const struct evidence_rules *r,
			 const enum evidence_verdict *verdicts)
{
	uint64_t heaviest = 0;
	size_t found = l->n;

	for (size_t i = 0; i < l->n; i++) {
		uint64_t weight;

		if (!may_go(l, r, i, verdicts))
			continue;
		weight = weight_of(l, verdicts, l->items[i].agent);
		if (found == l->n || weight > heaviest) {
			found = i;
			heaviest = weight;
		}
	}
	return found;
}

/* Removing all removable items would free enough.  If not, remove none: a payload fills the disk. */
static bool can_be_freed(const struct evidence_list *l, const struct evidence_rules *r, uint64_t free_bytes,
			 const enum evidence_verdict *verdicts)
{
	for (size_t i = 0; i < l->n && free_bytes < r->keep_free; i++)
		if (may_go(l, r, i, verdicts))
			free_bytes += l->items[i].bytes;
	return free_bytes >= r->keep_free;
}

/* The item that was just captured is the largest: do not remove others for it; it is the first to go next time. */
static bool is_kept_heavier(const struct evidence_list *l, const struct evidence_rules *r,
			    const enum evidence_verdict *verdicts, const char *agent)
{
	for (size_t i = 0; i < l->n && r->keep; i++)
		if (str_eq(l->items[i].name, r->keep))
			return !str_eq(l->items[i].agent, agent) &&
			       weight_of(l, verdicts, l->items[i].agent) > weight_of(l, verdicts, agent);
	return false;
}

void evidence_retention_decide(const struct evidence_list *l, const struct evidence_rules *r,
			       uint64_t free_bytes, enum evidence_verdict *verdicts)
{
	uint64_t sum = 0;
	bool can;

	for (size_t i = 0; i < l->n; i++) {
		verdicts[i] = EVIDENCE_STAYS;
		if (may_go(l, r, i, verdicts) && is_too_old(l->items + i, r))
			verdicts[i] = EVIDENCE_TOO_OLD;
		else if (may_go(l, r, i, verdicts) && is_older(l->items + i, r))
			verdicts[i] = EVIDENCE_BY_HAND;
		if (verdicts[i] == EVIDENCE_STAYS)
			sum += l->items[i].bytes;
		else
			free_bytes += l->items[i].bytes;
	}
	can = can_be_freed(l, r, free_bytes, verdicts);
	for (;;) {
		bool over = r->quota && sum > r->quota, full = can && free_bytes < r->keep_free;
		size_t i = over || full ? next_to_go(l, r, verdicts) : l->n;

		if (i == l->n || (!over && is_kept_heavier(l, r, verdicts, l->items[i].agent)))
			return;
		verdicts[i] = over ? EVIDENCE_OVER_QUOTA : EVIDENCE_DISK_FULL;
		sum -= l->items[i].bytes;
		free_bytes += l->items[i].bytes;
	}
}
