/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decision/decision.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "approval/standing.h"
#include "base/str.h"

#define NOTES_MAX 3 /* standing approvals that a refusal explains */

static bool has_reason(const struct verdict *v, const char *id)
{
	for (size_t i = 0; i < v->n_reasons; i++)
		if (strcmp(v->reasons[i].id, id) == 0)
			return true;
	return false;
}

static bool is_of_the_web(const struct decision_question *q, const struct verdict *v)
{
	for (char *const *w = q->provenance; w && *w; w++)
		if (strcmp(*w, "tool_output") != 0)
			return true;
	return has_reason(v, "web-requester");
}

/* V: the verdict with the intention that a standing approval sets. */
static const char *find_never(const struct decision_question *q, const struct verdict *v)
{
	if (has_reason(v, "unbounded-delete"))
		return "an unbounded delete is approved for one start at a time";
	if (v->axes.domain == DOMAIN_SYSTEM)
		return "what affects the system is approved for one start at a time";
	if (is_of_the_web(q, v))
		return "words from the web or from an unknown source are approved for one start at a time";
	if (v->level != 'A' && v->level != 'B')
		return "it is of level C for a task as well, which is approved for one start at a time";
	return NULL;
}

static int set_never(struct decision *d, const char *why, struct fault *f)
{
	d->standing = jdoc_new_object();
	jdoc_set_string(d->standing, "never", why);
	return d->standing && !d->standing->broken ? 0 : fault_errno(f, ENOMEM, "standing approval");
}

/* Why G does not answer this run; nothing if it is not as near to it as NEAR says. */
static void put_note(const struct decision *d, const struct grant_found *g, enum standing_near near,
		     struct strbuf *out)
{
	if (!g->grant.standing || standing_is_near(g->grant.standing, d->standing) != near)
		return;
	if (digest_equal(&g->grant.digest, &d->standing_digest)) {
		if (g->reason != GRANT_VALID)
			strbuf_printf(out, "; standing approval %s does not count: %s", g->grant.id,
				      grant_reason_text(g->reason));
		return;
	}
	if (g->reason != GRANT_VALID)
		return;
	strbuf_printf(out, "; standing approval %s is void for this run, changed: ", g->grant.id);
	standing_put_difference(g->grant.standing, d->standing, out);
}

/* Grants whose file cannot be read have no parts; of those that are for this run the name of the file says so. */
static void put_damaged(const struct grant_set *own, struct strbuf *out)
{
	for (size_t i = 0; i < own->n; i++)
		if (!own->items[i].grant.standing)
			strbuf_printf(out, "; standing approval %s does not count: %s",
				      own->items[i].grant.id, grant_reason_text(own->items[i].reason));
}

static int explain(struct decision *d, const struct grant_set *own, struct fault *f)
{
	_cleanup_grants_ struct grant_set all = { 0 };
	_cleanup_strbuf_ struct strbuf b = { 0 };
	size_t notes = 0;
	int r = grant_list(&d->approval.store, &all, f);

	if (r < 0)
		return r;
	put_damaged(own, &b);
	/* The program first: a worktree may have approvals of many. */
	for (enum standing_near near = STANDING_SAME_PROGRAM; near > STANDING_FAR; near--)
		for (size_t i = 0; i < all.n && notes < NOTES_MAX; i++) {
			size_t before = b.len;

			put_note(d, &all.items[i], near, &b);
			notes += b.len > before;
		}
	if (own->reason == GRANT_SELF_APPROVAL || own->reason == GRANT_TOO_FEW_APPROVALS)
		strbuf_printf(&b, "; standing approval: %s", grant_reason_text(own->reason));
	if (b.broken)
		return fault_errno(f, ENOMEM, "standing approval");
	d->standing_note = b.text ? strbuf_take(&b) : NULL;
	return 0;
}

int decision_take_standing(struct decision *d, const struct decision_question *q, struct fault *f)
{
	verdict_free(d->verdict);
	d->verdict = TAKE_PTR(d->standing_verdict);
	d->query = d->standing_query;
	jdoc_free(d->verdict_document);
	d->verdict_document = NULL;
	return decision_describe(d, q->digest, f);
}

static int reserve(struct decision *d, const struct decision_question *q, struct fault *f)
{
	const struct grant_owner owner = { .session = d->run.session, .pid = q->owner };
	_cleanup_grants_ struct grant_set s = { 0 };
	int r = grant_reserve(&d->approval.store, &d->standing_query, &owner, &s, f);

	if (r < 0)
		return r;
	if (s.reason != GRANT_VALID)
		return explain(d, &s, f);
	/* Ours from here on, whatever follows: it is released with the refusal. */
	d->reserved = true;
	d->grants = s;
	s = (struct grant_set){ 0 };
	r = decision_take_standing(d, q, f);
	return r < 0 ? r : 1;
}

int decision_standing(struct decision *d, const struct decision_question *q, struct fault *f)
{
	struct decision_question task = *q;
	const char *never;
	int r;

	if (!q->standing || !q->digest)
		return 0;
	task.as_task = true;
	r = decision_verdict(&task, d->config, &d->standing_verdict, f);
	if (r < 0)
		return fault_wrap(f, r, "policy could not decide, nothing was started");
	never = find_never(q, d->standing_verdict);
	if (never)
		return set_never(d, never, f);
	r = standing_bind(q->subject, q->document, &d->standing, &never, f);
	if (r <= 0)
		return r < 0 ? r : set_never(d, never, f);
	r = standing_digest(d->standing, &d->standing_digest, f);
	if (r < 0)
		return r;
	d->standing_query = (struct grant_query){ .digest = &d->standing_digest,
						  .level = 'B',
						  .uid = geteuid(),
						  .user = d->dirs->user,
						  .standing = true };
	return reserve(d, q, f);
}
