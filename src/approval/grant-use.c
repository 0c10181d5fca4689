/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/seam.h"
#include "approval/grant-impl.h"

#define KEEP_EXPIRED_US \
	((uint64_t)24 * 3600 * 1000000) /* expired grants are kept for a day, to explain refusals */

/* Reads, checks, chooses.  DIRFD negative: no grants. */
static int load_and_choose(const struct grant_judgement *j, int dirfd, struct grant_items *l,
			   enum grant_reason *reason, struct fault *f)
{
	int r = grant_items_load(j, dirfd, j->query->digest, l, f);

	if (r == 0 && j->only_reserved)
		grant_items_choose_reserved(j->store, l, j->session, reason);
	else if (r == 0)
		grant_items_choose(j->store, l, reason);
	return r;
}

/* The same under the lock of the grants, which the caller closes. */
static int load_locked(const struct grant_judgement *j, int *ret_dirfd, int *ret_lock, struct grant_items *l,
		       enum grant_reason *reason, struct fault *f)
{
	int r = approval_store_open_locked(j->store, APPROVAL_STORE_GRANTS, false, ret_dirfd, ret_lock, f);

	return r < 0 && r != -ENOENT ? r : load_and_choose(j, *ret_dirfd, l, reason, f);
}

int grant_find(const struct approval_store *d, const struct grant_query *q, struct grant_set *ret,
	       struct fault *f)
{
	struct grant_judgement j = { .store = d, .query = q };
	_cleanup_items_ struct grant_items l = { 0 };
	_cleanup_close_ int dirfd = approval_store_open_dir(d, APPROVAL_STORE_GRANTS, false, f);
	enum grant_reason reason;
	int r;

	if (dirfd < 0 && dirfd != -ENOENT)
		return dirfd;
	r = approval_store_now(d, &j.now, f);
	if (r == 0)
		r = load_and_choose(&j, dirfd, &l, &reason, f);
	return r < 0 ? r : grant_items_take(d, &l, reason, ret, f);
}

int grant_list(const struct approval_store *d, struct grant_set *ret, struct fault *f)
{
	struct grant_judgement j = { .store = d };
	_cleanup_items_ struct grant_items l = { 0 };
	_cleanup_close_ int dirfd = approval_store_open_dir(d, APPROVAL_STORE_GRANTS, false, f);
	int r;

	if (dirfd < 0 && dirfd != -ENOENT)
		return dirfd;
	r = approval_store_now(d, &j.now, f);
	if (r == 0)
		r = grant_items_load(&j, dirfd, NULL, &l, f);
	return r < 0 ? r : grant_items_take(d, &l, GRANT_UNDECIDED, ret, f);
}

/* One record for each chosen grant, all of them or none. */
static int record_chosen(const struct approval_store *d, const struct grant_items *l, const char *kind,
			 const char *session, enum ledger_class class, struct ledger_mark *mark,
			 struct fault *f)
{
	_cleanup_free_ struct ledger_event *events = calloc(l->n + 1, sizeof(*events));
	_cleanup_free_ struct jdoc **details = calloc(l->n + 1, sizeof(struct jdoc *));
	size_t n = 0;
	int r;

	if (!events || !details)
		return fault_errno(f, ENOMEM, "record '%s'", kind);
	if (!d->ledger)
		return fault_set(f, ENOENT, "no ledger to record '%s' in: run 'custody ledger init'", kind);
	for (size_t i = 0; i < l->n; i++) {
		const struct grant_item *item = &l->items[i];

		if (!item->chosen)
			continue;
		details[n] = grant_details(&item->found.grant);
		jdoc_set_int(details[n], "used", (int64_t)item->uses.used);
		jdoc_set_int(details[n], "uses", (int64_t)grant_uses_allowed(d, &item->found.grant));
		events[n] = (struct ledger_event){ .kind = kind,
						   .session = session,
						   .agent = d->agent,
						   .worker = d->worker,
						   .d = details[n],
						   .verbatim = true };
		n++;
	}
	r = ledger_append(d->ledger, events, n, class, mark, f);
	for (size_t i = 0; i < n; i++)
		jdoc_free(details[i]);
	return r;
}

static int write_changed(int dirfd, struct grant_items *l, struct fault *f)
{
	for (size_t i = 0; i < l->n; i++) {
		struct grant_item *item = &l->items[i];
		int r;

		if (!item->chosen || !item->uses.changed)
			continue;
		r = grant_uses_write(dirfd, &item->uses, f);
		if (r < 0)
			return fault_wrap(f, r, "uses of grant '%s'", item->found.grant.id);
		item->found.used = item->uses.used;
		item->found.reserved = item->uses.n_reserved;
	}
	return 0;
}

/* Returned reservations of dead sessions are recorded before others take them. */
static int record_returned(const struct approval_store *d, const struct grant_items *l, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; i < l->n; i++)
		for (char **s = l->items[i].returned; l->items[i].chosen && s && *s && r == 0; s++) {
			struct jdoc *details = grant_details(&l->items[i].found.grant);

			jdoc_set_string(details, "why", "dead");
			r = approval_store_record(d, "grant.release", NULL, NULL, *s, details,
						  LEDGER_OBSERVED, NULL, f);
		}
	return r;
}

int grant_reserve(const struct approval_store *d, const struct grant_query *q,
		  const struct grant_owner *owner, struct grant_set *ret, struct fault *f)
{
	struct grant_judgement j = { .store = d, .query = q, .session = owner->session };
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	_cleanup_items_ struct grant_items l = { 0 };
	struct grant_reservation mine;
	struct ledger_mark mark;
	enum grant_reason reason;
	int r;

	r = approval_store_now(d, &j.now, f);
	if (r == 0)
		r = grant_reservation_init(&mine, owner->session, owner->pid, &j.now, f);
	if (r == 0)
		r = load_locked(&j, &dirfd, &lock, &l, &reason, f);
	if (r < 0)
		return r;
	if (reason == GRANT_VALID) {
		r = record_returned(d, &l, f);
		if (r == 0)
			r = record_chosen(d, &l, "grant.reserve", owner->session, LEDGER_OBSERVED, &mark, f);
		seam("reservation-recorded");
		for (size_t i = 0; i < l.n && r == 0; i++) {
			if (!l.items[i].chosen)
				continue;
			mine.seq = mark.size;
			r = grant_uses_add(&l.items[i].uses, &mine, f);
		}
		if (r == 0)
			r = write_changed(dirfd, &l, f);
	}
	return r < 0 ? r : grant_items_take(d, &l, reason, ret, f);
}

int grant_consume(const struct approval_store *d, const struct grant_query *q, const char *session,
		  struct grant_set *ret, struct fault *f)
{
	struct grant_judgement j = { .store = d, .query = q, .session = session, .only_reserved = true };
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	_cleanup_items_ struct grant_items l = { 0 };
	enum grant_reason reason;
	int r;

	r = approval_store_now(d, &j.now, f);
	if (r == 0)
		r = load_locked(&j, &dirfd, &lock, &l, &reason, f);
	if (r < 0)
		return r;
	if (reason == GRANT_VALID) {
		r = record_chosen(d, &l, "grant.consume", session, LEDGER_DECIDED, NULL, f);
		seam("consumption-recorded");
		for (size_t i = 0; i < l.n && r == 0; i++) {
			struct grant_uses *u = &l.items[i].uses;

			if (!l.items[i].chosen)
				continue;
			(void)grant_uses_drop(u, session);
			u->used++;
			u->last = j.now;
			(void)snprintf(u->last_session, sizeof(u->last_session), "%s", session);
		}
		if (r == 0)
			r = write_changed(dirfd, &l, f);
	}
	return r < 0 ? r : grant_items_take(d, &l, reason, ret, f);
}

/* Every grant whose uses can be read; the others do not count and hold no reservation. */
static int each_uses(int dirfd, int (*fn)(void *arg, const char *id, struct grant_uses *u, struct fault *f),
		     void *arg, struct fault *f)
{
	_cleanup_strv_ char **names = NULL;
	int r;

	r = approval_store_names(dirfd, ".uses", &names, f);
	for (char **n = names; r >= 0 && *n; n++) {
		_cleanup_uses_ struct grant_uses u = { 0 };

		if (strlen(*n) != GRANT_ID_SIZE - 1 + strlen(".uses"))
			continue;
		(*n)[GRANT_ID_SIZE - 1] = '\0';
		if (grant_uses_load(dirfd, *n, &u, NULL) == 0)
			r = fn(arg, *n, &u, f);
	}
	return r < 0 ? r : 0;
}

struct release_args {
	const struct approval_store *store;
	int dirfd;
	const char *session, *why;
};

static int release_one(void *arg, const char *id, struct grant_uses *u, struct fault *f)
{
	const struct release_args *rel = arg;
	const struct grant_reservation *mine;
	struct jdoc *details;
	char hex[DIGEST_HEX_SIZE];
	int r;

	(void)id;
	mine = grant_uses_find(u, rel->session);
	if (!mine)
		return 0;
	/*
	 * Recorded as used, but not written because the disk was full: that use is consumed, whatever the
	 * start did.
	 */
	r = grant_uses_was_consumed(rel->store, u, mine, f);
	if (r < 0)
		return r;
	(void)grant_uses_drop(u, rel->session);
	if (r > 0) {
		u->used++;
		return grant_uses_write(rel->dirfd, u, f);
	}
	digest_to_hex(&u->statement, hex);
	details = jdoc_new_object();
	jdoc_set_string(details, "grant", hex);
	approval_store_put_text(details, "why", rel->why);
	r = approval_store_record(rel->store, "grant.release", NULL, NULL, rel->session, details,
				  LEDGER_OBSERVED, NULL, f);
	return r < 0 ? r : grant_uses_write(rel->dirfd, u, f);
}

int grant_release(const struct approval_store *d, const char *session, const char *why, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	struct release_args rel = { .store = d, .session = session, .why = why };
	int r;

	r = approval_store_open_locked(d, APPROVAL_STORE_GRANTS, false, &dirfd, &lock, f);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	rel.dirfd = dirfd;
	return each_uses(dirfd, release_one, &rel, f);
}

static const struct approval_store_names_of grant_names = { "grant", "custody grants", ".uses" };

int grant_revoke(const struct approval_store *d, const char *id, const char *by, const char *reason,
		 struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	_cleanup_uses_ struct grant_uses u = { 0 };
	char full[GRANT_ID_SIZE], hex[DIGEST_HEX_SIZE];
	struct jdoc *details;
	struct moment now;
	int r;

	if (!str_is_utf8(by, strlen(by)) || (reason && !str_is_utf8(reason, strlen(reason))))
		return fault_set(f, EINVAL, "names and reasons must be UTF-8");
	r = approval_store_open_locked(d, APPROVAL_STORE_GRANTS, false, &dirfd, &lock, f);
	if (r == -ENOENT)
		return fault_set(f, ENOENT, "no grant '%s' in lane '%s': the lane has no grants", id,
				 d->lane);
	if (r == 0)
		r = approval_store_resolve(d, dirfd, &grant_names, id, full, f);
	if (r == 0)
		r = approval_store_now(d, &now, f);
	if (r == 0)
		r = grant_uses_load(dirfd, full, &u, f);
	if (r < 0)
		return r;
	if (u.revoked_by)
		return fault_set(f, EALREADY, "grant '%s' is already revoked by '%s'", full, u.revoked_by);
	u.revoked_by = strdup(by);
	u.revoked_us = now.wall_us;
	if (!u.revoked_by)
		return fault_errno(f, ENOMEM, "grant");
	digest_to_hex(&u.statement, hex);
	details = jdoc_new_object();
	jdoc_set_string(details, "grant", hex);
	jdoc_set_int(details, "used", (int64_t)u.used);
	approval_store_put_text(details, "by", by);
	approval_store_put_text(details, "why", reason);
	r = approval_store_record(d, "approval.revoke", "denied", NULL, NULL, details, LEDGER_DECIDED, NULL,
				  f);
	return r < 0 ? r : grant_uses_write(dirfd, &u, f);
}

/*
 * Statement first: one without uses does not count, uses without a statement are harmless.  A copy that is
 * restored later has expired.
 */
static int remove_expired(const struct approval_store *d, int dirfd, const struct grant *g, struct fault *f)
{
	char name[GRANT_FILE_SIZE], uses[GRANT_ID_SIZE + sizeof(".uses")];
	struct jdoc *details = grant_details(g);
	int r;

	jdoc_set_string(details, "why", "expired");
	r = approval_store_record(d, "grant.drop", NULL, NULL, NULL, details, LEDGER_OBSERVED, NULL, f);
	grant_file_name(g, name);
	(void)snprintf(uses, sizeof(uses), "%.16s.uses", g->id);
	if (r == 0)
		r = approval_store_unlink(dirfd, name, f);
	return r < 0 ? r : approval_store_unlink(dirfd, uses, f);
}

int grant_sweep(const struct approval_store *d, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	struct grant_judgement j = { .store = d };
	_cleanup_items_ struct grant_items l = { 0 };
	int n = 0, r;

	r = approval_store_open_locked(d, APPROVAL_STORE_GRANTS, false, &dirfd, &lock, f);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	approval_store_remove_temps(dirfd);
	r = approval_store_now(d, &j.now, f);
	if (r == 0)
		r = grant_items_load(&j, dirfd, NULL, &l, f);
	for (size_t i = 0; r == 0 && i < l.n; i++) {
		const struct grant_item *item = &l.items[i];

		/* Only grants that are certainly over; the others are left for a person to inspect. */
		if ((item->found.reason != GRANT_EXPIRED && item->found.reason != GRANT_CONSUMED &&
		     item->found.reason != GRANT_REVOKED) ||
		    item->uses.n_reserved > 0 ||
		    j.now.wall_us < grant_end_us(d, &item->found.grant) + KEEP_EXPIRED_US)
			continue;
		r = remove_expired(d, dirfd, &item->found.grant, f);
		n++;
	}
	return r < 0 ? r : n;
}
