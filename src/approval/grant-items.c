/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "approval/grant-impl.h"

void grant_items_done(struct grant_items *l)
{
	for (size_t i = 0; i < l->n; i++) {
		grant_done(&l->items[i].found.grant);
		free(l->items[i].found.revoked_by);
		grant_uses_done(&l->items[i].uses);
		strv_free(l->items[i].returned);
	}
	free(l->items);
	approver_list_done(&l->approvers);
	free(l->ledger);
	*l = (struct grant_items){ 0 };
}

void grant_set_done(struct grant_set *s)
{
	for (size_t i = 0; i < s->n; i++) {
		grant_done(&s->items[i].grant);
		free(s->items[i].revoked_by);
	}
	free(s->items);
	*s = (struct grant_set){ 0 };
}

void grant_file_name(const struct grant *g, char name[GRANT_FILE_SIZE])
{
	char digest[REQUEST_ID_SIZE];

	request_id(&g->digest, digest);
	(void)snprintf(name, GRANT_FILE_SIZE, "%.16s-%.16s.json", digest, g->id);
}

/* NAME has the form "DIGEST16-ID.json"; of a file that cannot be read only its id is known. */
static void take_id(const char *name, struct grant *g)
{
	memcpy(g->id, name + REQUEST_ID_SIZE, GRANT_ID_SIZE - 1);
	g->id[GRANT_ID_SIZE - 1] = '\0';
}

static int show_uses(struct grant_item *item, struct fault *f)
{
	item->found.used = item->uses.used;
	item->found.reserved = item->uses.n_reserved;
	if (!item->uses.revoked_by)
		return 0;
	item->found.revoked_by = strdup(item->uses.revoked_by);
	return item->found.revoked_by ? 0 : fault_errno(f, ENOMEM, "grant");
}

/* A defect of one grant is reported for that grant; the others still count. */
static int load(const struct grant_judgement *j, int dirfd, const char *name, struct grant_items *l,
		struct grant_item *item, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	char own[GRANT_FILE_SIZE];
	bool registered;
	size_t len;
	int r;

	r = approval_store_read(dirfd, name, "grant", &text, &len, NULL);
	if (r < 0 || len > GRANT_TEXT_MAX || grant_parse(text, len, "grant", &item->found.grant, NULL) < 0) {
		take_id(name, &item->found.grant);
		item->found.reason = GRANT_EDITED;
		return 0;
	}
	/* Most grants here are over, and verifying a signature takes longer than all other checks. */
	registered = grant_uses_read(dirfd, &item->found.grant, &item->uses, NULL) == 0;
	item->found.reason = registered ? grant_judge_over(j, item) : GRANT_VALID;
	if (item->found.reason != GRANT_VALID)
		return show_uses(item, f);
	item->found.reason = grant_judge_text(j->store, &item->found.grant, &l->approvers,
					      j->ledger ? j->ledger : l->ledger, &item->approver);
	if (item->found.reason != GRANT_VALID)
		return 0;
	/* A copy under another name is not a second grant. */
	grant_file_name(&item->found.grant, own);
	if (!registered || !str_eq(own, name)) {
		item->found.reason = GRANT_UNREGISTERED;
		grant_uses_done(&item->uses);
		return 0;
	}
	r = grant_uses_settle(j->store, &item->uses, &j->now, &item->returned, f);
	if (r < 0)
		return r;
	item->found.reason = grant_judge(j, item);
	return show_uses(item, f);
}

int grant_items_load(const struct grant_judgement *j, int dirfd, const struct digest *digest,
		     struct grant_items *ret, struct fault *f)
{
	_cleanup_items_ struct grant_items l = { 0 };
	_cleanup_strv_ char **names = NULL;
	char begin[REQUEST_ID_SIZE] = "";
	void *items;
	int r;

	if (digest)
		request_id(digest, begin);
	r = approver_list_public(j->store, &l.approvers, f);
	if (r == 0)
		r = approval_store_list(dirfd, "grants", sizeof(*l.items), &names, &items, f);
	if (r < 0)
		return r;
	l.items = items;
	/* Without a grant the keys of the ledger are not needed. */
	if (names[0])
		r = approval_store_ledger_key(j->store, &l.ledger, f);
	if (r < 0)
		return r;
	for (char **n = names; *n; n++) {
		if (!str_starts(*n, begin) || strlen(*n) != GRANT_FILE_SIZE - 1 - 2 ||
		    (*n)[REQUEST_ID_SIZE - 1] != '-')
			continue;
		r = load(j, dirfd, *n, &l, &l.items[l.n++], f);
		if (r < 0)
			return r;
	}
	*ret = l;
	l = (struct grant_items){ 0 };
	return 0;
}

/*
 * Two approvals need two names with two keys.  Keys that one user created count as one approver, unless the
 * admin lists them without the same uid.
 */
static bool is_same_approver(const struct approver *a, const struct approver *b)
{
	if (str_eq(a->name, b->name))
		return true;
	if (a->has_key && b->has_key && memcmp(&a->key, &b->key, sizeof(a->key)) == 0)
		return true;
	if (a->has_pin_key && b->has_pin_key && memcmp(&a->pin_key, &b->pin_key, sizeof(a->pin_key)) == 0)
		return true;
	return a->own_uid && b->own_uid && a->uid == b->uid;
}

static bool has_approval_of(const struct grant_items *l, const struct approver *by)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].chosen && is_same_approver(l->items[i].approver, by))
			return true;
	return false;
}

/* The lowest level first, then the earliest expiry: saves the others. */
static int by_level_and_expiry(const void *a, const void *b)
{
	const struct grant *x = &((const struct grant_item *)a)->found.grant,
			   *y = &((const struct grant_item *)b)->found.grant;

	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return x->not_after_us < y->not_after_us ? -1 : x->not_after_us > y->not_after_us;
}

static enum grant_reason overall_reason(const struct grant_items *l, uint64_t chosen)
{
	enum grant_reason reason = GRANT_NONE;
	uint64_t newest = 0;

	if (chosen > 0)
		return GRANT_TOO_FEW_APPROVALS;
	for (size_t i = 0; i < l->n; i++) {
		uint64_t at = l->items[i].found.grant.decided.wall_us;
		enum grant_reason why = l->items[i].found.reason;

		if (reason != GRANT_NONE && at < newest)
			continue;
		/* A copy is as old as its original: the original's reason is more useful. */
		if (reason != GRANT_NONE && at == newest && why == GRANT_UNREGISTERED)
			continue;
		newest = at;
		if (why != GRANT_NONE)
			reason = why;
	}
	return reason;
}

/*
 * All grants that SESSION reserved: the start needed them, by rules that may have been stricter than ours.
 * One of them that is no longer valid refuses the start.
 */
void grant_items_choose_reserved(const struct approval_store *d, struct grant_items *l, const char *session,
				 enum grant_reason *ret_reason)
{
	uint64_t approvals = 0;

	*ret_reason = GRANT_NONE;
	for (size_t i = 0; i < l->n; i++) {
		struct grant_item *item = &l->items[i];

		if (!grant_uses_find(&item->uses, session))
			continue;
		if (item->found.reason != GRANT_VALID) {
			*ret_reason = item->found.reason;
			approvals = 0;
			break;
		}
		approvals += !has_approval_of(l, item->approver);
		item->chosen = true;
		*ret_reason = GRANT_TOO_FEW_APPROVALS;
	}
	if (approvals >= approval_store_min_approvals(d)) {
		*ret_reason = GRANT_VALID;
		return;
	}
	if (*ret_reason == GRANT_NONE)
		*ret_reason = overall_reason(l, 0);
	for (size_t i = 0; i < l->n; i++)
		l->items[i].chosen = false;
}

void grant_items_choose(const struct approval_store *d, struct grant_items *l, enum grant_reason *ret_reason)
{
	uint64_t needed = approval_store_min_approvals(d), chosen = 0;

	if (l->n > 0)
		qsort(l->items, l->n, sizeof(*l->items), by_level_and_expiry);
	for (size_t i = 0; i < l->n && chosen < needed; i++) {
		struct grant_item *item = &l->items[i];

		if (item->found.reason != GRANT_VALID || has_approval_of(l, item->approver))
			continue;
		item->chosen = true;
		chosen++;
	}
	if (chosen >= needed) {
		*ret_reason = GRANT_VALID;
		return;
	}
	*ret_reason = overall_reason(l, chosen);
	for (size_t i = 0; i < l->n; i++)
		l->items[i].chosen = false;
}

int grant_items_take(const struct approval_store *d, struct grant_items *l, enum grant_reason reason,
		     struct grant_set *ret, struct fault *f)
{
	struct grant_set s = { .reason = reason, .needed = (unsigned int)approval_store_min_approvals(d) };

	s.items = calloc(l->n + 1, sizeof(*s.items));
	if (!s.items)
		return fault_errno(f, ENOMEM, "grants");
	for (int chosen = 1; chosen >= 0; chosen--)
		for (size_t i = 0; i < l->n; i++) {
			if (l->items[i].chosen != chosen)
				continue;
			s.items[s.n++] = l->items[i].found;
			s.n_chosen += (size_t)chosen;
			l->items[i].found = (struct grant_found){ 0 };
		}
	*ret = s;
	return 0;
}

char *grant_set_explain(const struct grant_set *s)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, grant_reason_text(s->reason));
	if (s->reason == GRANT_TOO_FEW_APPROVALS)
		strbuf_printf(&b, ": %u are required", s->needed);
	for (size_t i = 0; i < s->n; i++) {
		const struct grant_found *g = &s->items[i];

		strbuf_printf(&b, "%s%s", i ? ", " : " (", g->grant.id);
		if (g->grant.approver[0])
			strbuf_printf(&b, " by '%s'", g->grant.approver);
		strbuf_printf(&b, ": %s", grant_reason_id(g->reason));
	}
	if (s->n > 0)
		strbuf_putc(&b, ')');
	return strbuf_take(&b);
}
