/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "approval/grant-impl.h"
#include "approval/standing.h"
#include "base/str.h"

/* The part of signing that is for standing approvals only. */

uint64_t grant_terms_time(const struct grant_terms *t)
{
	return t->for_s ? t->for_s : t->always ? STANDING_S : APPROVAL_GRANT_S;
}

int grant_require_always(const struct approval_store *d, const struct request *rq, struct fault *f)
{
	const char *never = jdoc_get_string(rq->standing, "never");
	_cleanup_free_ char *own = NULL;
	int r;

	if (never)
		return fault_set(f, EPERM, "request '%s' can have no standing approval: %s", rq->id, never);
	if (!rq->standing)
		return fault_set(
			f, EPERM,
			"request '%s' can have no standing approval: it is of a bundle, of another machine "
			"or of an older version; standing approvals are for 'custody run' on this machine",
			rq->id);
	r = approval_store_ledger_key(d, &own, f);
	if (r == 0 && !str_eq(own, rq->ledger))
		r = fault_set(
			f, EPERM,
			"request '%s' is of another ledger: a standing approval is signed where it counts",
			rq->id);
	return r < 0 ? r : standing_require(rq->standing, "request", f);
}

int grant_bind_always(const struct approval_store *d, const struct request *rq, struct grant *g,
		      struct fault *f)
{
	int r = grant_require_always(d, rq, f);

	if (r < 0)
		return r;
	g->standing = jdoc_copy(rq->standing);
	if (!g->standing)
		return fault_errno(f, ENOMEM, "grant");
	return standing_digest(g->standing, &g->digest, f);
}
