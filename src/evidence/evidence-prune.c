/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-prune.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "evidence/evidence-retention.h"
#include "ledger/ledger-action.h"

static const char *const verdicts[] = { [EVIDENCE_STAYS] = "stays",
					[EVIDENCE_TOO_OLD] = "too-old",
					[EVIDENCE_OVER_QUOTA] = "over-quota",
					[EVIDENCE_DISK_FULL] = "disk-full",
					[EVIDENCE_BY_HAND] = "by-hand" };

static uint64_t free_bytes(const char *store)
{
	struct statvfs s;

	return statvfs(store, &s) == 0 ? (uint64_t)s.f_bavail * s.f_frsize : UINT64_MAX;
}

static int prune_one(const struct evidence_prune *p, const struct evidence_item *e, const char *why,
		     struct fault *f)
{
	int r;

	if (p->told)
		p->told(p->arg, e, why);
	if (p->dry_run)
		return 0;
	r = ledger_action_record(p->dirs->state, p->dirs->user, "evidence.prune", e->name, why, f);
	return r < 0 ? r : evidence_remove(p->store, e->name, f);
}

/* Free bytes after pruning would be at least WANTED. */
static bool is_enough(const struct evidence_list *l, const enum evidence_verdict *v, uint64_t free_now,
		      uint64_t wanted)
{
	for (size_t i = 0; i < l->n && free_now < wanted; i++)
		if (v[i] != EVIDENCE_STAYS)
			free_now += l->items[i].bytes;
	return free_now >= wanted;
}

int evidence_prune(const struct evidence_prune *p, struct fault *f)
{
	struct evidence_rules rules = { .retention_days = p->config->forensics.retention_days,
					.quota = p->config->forensics.quota,
					.keep_free = p->config->forensics.keep_free + p->need,
					.now_us = clock_wall_us(),
					.set_older = p->set_older,
					.older_s = p->older_s,
					.keep = p->keep };
	_cleanup_evidence_ struct evidence_list l = { 0 };
	_cleanup_free_ enum evidence_verdict *v = NULL;
	uint64_t room;
	int r;

	r = p->dry_run ? 0 : evidence_sweep(p->store, f);
	if (r == 0)
		r = evidence_list(p->store, p->dirs->lane, &l, f);
	if (r < 0)
		return r;
	v = calloc(l.n + 1, sizeof(*v));
	if (!v)
		return fault_errno(f, ENOMEM, "prune");
	room = free_bytes(p->store);
	evidence_retention_decide(&l, &rules, room, v);
	/* If it does not fit even then, do not prune for it: the payload chooses the size of its evidence. */
	if (p->need && !is_enough(&l, v, room, rules.keep_free)) {
		rules.keep_free -= p->need;
		evidence_retention_decide(&l, &rules, room, v);
	}
	for (size_t i = 0; r == 0 && i < l.n; i++)
		if (v[i] != EVIDENCE_STAYS)
			r = prune_one(p, l.items + i, verdicts[v[i]], f);
	return r;
}

int evidence_prune_beside(const struct dirs *d, const struct config *c, const char *path, struct fault *f)
{
	const char *name = strrchr(path, '/');
	_cleanup_free_ char *store = strndup(path, (size_t)(name - path));

	return store ? evidence_prune(
			       &(struct evidence_prune){
				       .dirs = d, .config = c, .store = store, .keep = name + 1 },
			       f)
		     : fault_errno(f, ENOMEM, "prune");
}
