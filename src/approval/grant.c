/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/grant.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "approval/grant-impl.h"
#include "approval/standing.h"

/* Fields of every record of a grant. */
struct jdoc *grant_details(const struct grant *g)
{
	struct jdoc *details = jdoc_new_object();
	char hex[8 + DIGEST_HEX_SIZE] = "sha256:", level[2] = { g->level, '\0' }, id[REQUEST_ID_SIZE];

	digest_to_hex(&g->digest, hex + strlen(hex));
	jdoc_set_string(details, "digest", hex);
	digest_to_hex(&g->statement, hex);
	jdoc_set_string(details, "grant", hex);
	request_id(&g->digest, id);
	jdoc_set_string(details, "request", id);
	jdoc_set_string(details, "level", level);
	jdoc_set_string(details, "approver", g->approver);
	jdoc_set_string(details, "key_id", g->key_id);
	if (g->fleet[0])
		jdoc_set_string(details, "fleet", g->fleet);
	if (g->standing)
		jdoc_set_bool(details, "standing", true);
	return details;
}

/* RQ: the answered request; NULL: not requested here, the grant was signed elsewhere. */
static int record_grant(const struct approval_store *d, const struct grant *g, const struct request *rq,
			struct fault *f)
{
	struct approval_store who = *d;
	struct jdoc *details = grant_details(g);
	char until[CLOCK_TEXT_SIZE];

	clock_format(g->not_after_us, until);
	jdoc_set_string(details, "lane", g->lane);
	jdoc_set_string(details, "not_after", until);
	jdoc_set_int(details, "uses", (int64_t)grant_uses_allowed(d, g));
	if (!rq)
		jdoc_set_bool(details, "imported", true);
	else
		who.worker = rq->worker;
	/* Its digest is that of the parts; the request has the subject's. */
	if (rq && g->standing) {
		jdoc_set_string(details, "request", rq->id);
		jdoc_set(details, "parts", jdoc_copy(g->standing));
	}
	if (*g->reason)
		approval_store_put_text(details, "why", g->reason);
	return approval_store_record(&who, "approval.grant", NULL, rq ? rq->agent : NULL, NULL, details,
				     LEDGER_DECIDED, NULL, f);
}

/* Uses first, then the statement. */
static int keep(int dirfd, const struct grant *g, struct fault *f)
{
	_cleanup_uses_ struct grant_uses u = { .statement = g->statement };
	_cleanup_strbuf_ struct strbuf b = { 0 };
	char name[GRANT_FILE_SIZE];
	int r;

	strbuf_printf(&b, "%s\n", g->text);
	if (b.broken)
		return fault_errno(f, ENOMEM, "grant");
	r = grant_uses_write(dirfd, &u, f);
	grant_file_name(g, name);
	return r < 0 ? r : fd_replace_file(dirfd, name, b.text, b.len, 0600, f);
}

/*
 * --- signing ----------------------------------------------------------------------------------------------
 */

int grant_require_fleet(const struct approval_rules *rules, const char *fleet, char level, const char *ledger,
			struct fault *f)
{
	if (fleet && level == 'C')
		return fault_set(f, EINVAL,
				 "a level C is for one ledger, not for a fleet: leave out --fleet");
	if (fleet && !grant_fleet_has(grant_find_fleet(rules, fleet), ledger))
		return fault_set(
			f, EINVAL,
			"the admin's custody.json has no fleet '%s' with the ledger that asks: add '%s' to "
			"its `ledgers`",
			fleet, ledger ? ledger : "?");
	return 0;
}

static int check_terms(const struct approval_store *d, const struct request *rq, const struct approver *by,
		       const struct sign_secret *key, const struct grant_terms *t, struct fault *f)
{
	const struct sign_public *mine = t->level == 'C' ? &by->pin_key : &by->key;
	uint64_t max_s = d->rules->grant_max_s ? d->rules->grant_max_s : APPROVAL_GRANT_MAX_S;
	uint64_t max_uses = d->rules->grant_max_uses ? d->rules->grant_max_uses : APPROVAL_GRANT_MAX_USES;
	int r;

	if (t->level != 'B' && t->level != 'C')
		return fault_set(f, EINVAL, "level '%c' cannot be granted", t->level);
	if (t->level < rq->level)
		return fault_set(f, EPERM, "request '%s' is of level %c: it needs the PIN of '%s'", rq->id,
				 rq->level, by->name);
	if (!(t->level == 'C' ? by->has_pin_key : by->has_key) ||
	    memcmp(mine, &key->public, sizeof(*mine)) != 0)
		return fault_set(f, EINVAL, "the key is not that of '%s' for level %c", by->name, t->level);
	if (!by->counts)
		return fault_set(f, EACCES,
				 "'%s' is not an approver of lane '%s': have the admin add its key to "
				 "`approvers` in custody.json",
				 by->name, d->lane);
	if (rq->only && rq->only[0] && !strv_has(rq->only, by->name))
		return fault_set(f, EPERM,
				 "'%s' may not approve request '%s': its profile names other approvers "
				 "(governance.approvers)",
				 by->name, rq->id);
	if (t->uses > max_uses || t->for_s > max_s)
		return fault_set(
			f, EINVAL,
			"a grant has at most %llu uses within %llu seconds (grant_max in custody.json)",
			(unsigned long long)max_uses, (unsigned long long)max_s);
	if (t->always && (t->level != 'C' || t->uses || t->fleet))
		return fault_set(f, EINVAL,
				 "a standing approval needs the PIN and has no number of uses and no fleet");
	if (t->level == 'C' && t->uses > 1)
		return fault_set(f, EINVAL, "level C has one use: a PIN is for one start");
	if (!rq->ledger)
		return fault_set(f, EINVAL,
				 "request '%s' names no ledger: an older version filed it; request it again",
				 rq->id);
	r = grant_require_fleet(d->rules, t->fleet, t->level, rq->ledger, f);
	if (r < 0)
		return r;
	if (t->reason && (strlen(t->reason) > GRANT_REASON_MAX || !str_is_utf8(t->reason, strlen(t->reason))))
		return fault_set(f, EINVAL, "the reason must be UTF-8 of at most %d bytes", GRANT_REASON_MAX);
	return 0;
}

/* The ledger that asks, or the fleet with every ledger that it has now. */
static int set_ledgers(const struct approval_store *d, const struct request *rq, const char *fleet,
		       struct grant *g, struct fault *f)
{
	char *const one[] = { rq->ledger, NULL };
	char *const *list = fleet ? grant_find_fleet(d->rules, fleet)->ledgers : one;

	g->ledgers = strv_copy((char **)(uintptr_t)list);
	if (!g->ledgers)
		return fault_errno(f, ENOMEM, "grant");
	if (fleet)
		(void)snprintf(g->fleet, sizeof(g->fleet), "%s", fleet);
	return 0;
}

static int make(const struct approval_store *d, const struct request *rq, const struct approver *by,
		const struct grant_terms *t, struct grant *g, struct fault *f)
{
	uint8_t nonce[16];
	ssize_t n;
	int r;

	r = approval_store_now(d, &g->decided, f);
	if (r < 0)
		return r;
	do
		n = getrandom(nonce, sizeof(nonce), 0);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(nonce))
		return fault_errno(f, n < 0 ? errno : EIO, "getrandom");
	digest_hex(nonce, sizeof(nonce), g->nonce);
	g->digest = rq->digest;
	if (t->always) {
		r = grant_bind_always(d, rq, g, f);
		if (r < 0)
			return r;
	}
	memcpy(g->lane, d->lane, sizeof(g->lane));
	g->level = t->level;
	g->uses = t->always ? STANDING_USES : t->uses ? t->uses : 1;
	g->not_after_us = g->decided.wall_us + grant_terms_time(t) * 1000000;
	/* The default applies if no time is given; it stays below the maximum. */
	if (grant_end_us(d, g) < g->not_after_us)
		g->not_after_us = grant_end_us(d, g);
	memcpy(g->approver, by->name, sizeof(g->approver));
	memcpy(g->key_id, t->level == 'C' ? by->pin_key_id : by->key_id, sizeof(g->key_id));
	g->uid = geteuid();
	g->askers = strv_copy(rq->askers);
	g->reason = strdup(t->reason ? t->reason : "");
	if (!g->askers || !g->reason)
		return fault_errno(f, ENOMEM, "grant");
	return set_ledgers(d, rq, t->fleet, g, f);
}

/* RET: D with the requester's rules applied, in RULES; it borrows all else. */
static void tighten(const struct approval_store *d, const struct request *rq, struct approval_rules *rules,
		    struct approval_store *ret)
{
	*rules = *d->rules;
	if (rules->min_approvals < rq->needed)
		rules->min_approvals = rq->needed;
	if (rq->no_self)
		rules->allow_self = false;
	*ret = *d;
	ret->rules = rules;
}

static int is_complete(const struct approval_store *d, int dirfd, const struct request *rq,
		       const struct grant *g, bool *ret, struct fault *f)
{
	const struct grant_query q = { .digest = g->standing ? &g->digest : &rq->digest,
				       .level = g->standing ? 'B' : rq->level,
				       .uid = APPROVER_NO_UID,
				       .standing = g->standing };
	struct approval_rules rules;
	struct approval_store strict;
	struct grant_judgement j = { .store = &strict, .query = &q, .ledger = rq->ledger };
	_cleanup_items_ struct grant_items l = { 0 };
	enum grant_reason reason;
	int r;

	tighten(d, rq, &rules, &strict);
	r = approval_store_now(d, &j.now, f);
	if (r == 0)
		r = grant_items_load(&j, dirfd, q.digest, &l, f);
	if (r < 0)
		return r;
	grant_items_choose(&strict, &l, &reason);
	*ret = reason == GRANT_VALID;
	return 0;
}

/* The request is answered, or has one approval more. */
static int settle_request(const struct approval_store *d, int dirfd, struct request *rq, const char *by,
			  bool complete, struct fault *f)
{
	char name[REQUEST_FILE_SIZE];
	int r;

	if (!complete) {
		rq->state = REQUEST_OPEN;
		if (!strv_has(rq->approvals, by) && strv_append(&rq->approvals, by) < 0)
			return fault_errno(f, ENOMEM, "request");
		return request_store(dirfd, rq, f);
	}
	r = request_record(d, "approval.drop", NULL, rq, "granted", NULL, f);
	if (r == 0)
		r = request_keep_approved(d, rq, f);
	request_file_name(rq->id, name);
	return r < 0 ? r : approval_store_unlink(dirfd, name, f);
}

/* Under the lock of the requests: RQ as it is now. */
static int sign_locked(const struct approval_store *d, int requestsfd, struct request *rq,
		       const struct approver *by, const struct sign_secret *key,
		       const struct grant_terms *terms, struct grant *g, bool *ret_complete, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	struct approval_rules rules;
	struct approval_store strict;
	int r;

	r = make(d, rq, by, terms, g, f);
	if (r < 0)
		return r;
	tighten(d, rq, &rules, &strict);
	if (grant_is_self(&strict, g, by, NULL))
		return fault_set(
			f, EPERM,
			"'%s' requested '%s' and may not approve it (allow_self): another approver must",
			by->name, rq->id);
	r = grant_seal(g, key, f);
	if (r == 0 && strlen(g->text) >= GRANT_TEXT_MAX)
		r = fault_set(f, EMSGSIZE,
			      "the grant would exceed %d bytes: give a shorter reason or a smaller fleet",
			      GRANT_TEXT_MAX);
	if (r == 0)
		r = approval_store_open_locked(d, APPROVAL_STORE_GRANTS, true, &dirfd, &lock, f);
	/* Denied before and approved now: recorded as a new request by the approver. */
	if (r == 0 && rq->state == REQUEST_DENIED)
		r = request_record(d, "approval.request", "again", rq, NULL, by->name, f);
	if (r == 0)
		r = record_grant(d, g, rq, f);
	if (r == 0)
		r = keep(dirfd, g, f);
	if (r < 0)
		return r;
	r = is_complete(d, dirfd, rq, g, ret_complete, f);
	if (r == 0)
		r = settle_request(d, requestsfd, rq, by->name, *ret_complete, f);
	return r < 0 ? fault_wrap(f, r, "grant '%s' counts, but its request could not be closed", g->id) : 0;
}

static bool is_same_document(const struct jdoc *a, const struct jdoc *b)
{
	return a && b ? jdoc_equal(a, b) : a == b;
}

int grant_sign(const struct approval_store *d, const struct request *rq, const struct approver *by,
	       const struct sign_secret *key, const struct grant_terms *terms, struct grant *ret,
	       bool *ret_complete, struct fault *f)
{
	_cleanup_close_ int requestsfd = -EBADF, lock = -EBADF;
	_cleanup_request_ struct request now = { 0 };
	_cleanup_grant_ struct grant g = { 0 };
	bool complete = false;
	struct moment at;
	int r;

	r = approval_store_open_locked(d, APPROVAL_STORE_REQUESTS, true, &requestsfd, &lock, f);
	if (r < 0)
		return r;
	r = request_load(requestsfd, rq->id, &now, f);
	if (r == -ENOENT)
		return fault_set(f, ENOENT,
				 "request '%s' was removed: it was answered or dropped concurrently", rq->id);
	if (r == 0)
		r = approval_store_now(d, &at, f);
	if (r < 0)
		return r;
	/* Also the parts of a standing approval: the program may have been replaced while the card was shown. */
	if (!digest_equal(&now.digest, &rq->digest) || !str_eq(now.lane, d->lane) ||
	    (terms->always && !is_same_document(now.standing, rq->standing)))
		return fault_set(f, ESTALE, "request '%s' has changed: review it again", rq->id);
	if (request_is_over(&now, &at))
		return fault_set(f, ETIME, "request '%s' has expired: request it again", rq->id);
	/* An approver waits here anyway.  On failure the next sweep does it. */
	(void)!grant_sweep(d, NULL);
	r = check_terms(d, &now, by, key, terms, f);
	if (r == 0)
		r = sign_locked(d, requestsfd, &now, by, key, terms, &g, &complete, f);
	if (r < 0)
		return r;
	*ret = g;
	g = (struct grant){ 0 };
	*ret_complete = complete;
	return 0;
}

/*
 * --- import
 * -------------------------------------------------------------------------------------------------
 */

/* 1: the ledger has a record that it was used or revoked. */
static int has_a_past(const struct approval_store *d, const struct grant *g, struct fault *f)
{
	static const char *const kinds[] = { "grant.consume", "approval.revoke" };
	char hex[DIGEST_HEX_SIZE], needle[sizeof("\"grant\":\"\"") + DIGEST_HEX_SIZE];
	int r = 0;

	digest_to_hex(&g->statement, hex);
	(void)snprintf(needle, sizeof(needle), "\"grant\":\"%s\"", hex);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(kinds); i++)
		r = approval_store_recorded(d, 0, kinds[i], needle, "", f);
	return r;
}

/* Under the lock.  Not registered but in the ledger: its uses were removed, and are not restored. */
static int register_new(const struct approval_store *d, int dirfd, const struct grant *g,
			enum grant_reason *reason, struct fault *f)
{
	int r = has_a_past(d, g, f);

	if (r < 0)
		return r;
	if (r > 0) {
		*reason = GRANT_UNREGISTERED;
		return 0;
	}
	r = record_grant(d, g, NULL, f);
	return r < 0 ? r : keep(dirfd, g, f);
}

static int import_locked(const struct approval_store *d, int dirfd, struct grant_item *item,
			 enum grant_reason *reason, struct fault *f)
{
	const struct grant *g = &item->found.grant;
	struct grant_judgement j = { .store = d };
	char name[GRANT_FILE_SIZE];
	bool known;
	int r;

	r = approval_store_now(d, &j.now, f);
	if (r < 0)
		return r;
	r = grant_uses_read(dirfd, g, &item->uses, f);
	known = r == 0;
	if (r == -ENOENT)
		r = 0;
	if (r == 0 && known)
		r = grant_uses_settle(d, &item->uses, &j.now, NULL, f);
	if (r < 0)
		return r;
	*reason = grant_judge(&j, item);
	if (*reason != GRANT_VALID)
		return 0;
	if (!known)
		return register_new(d, dirfd, g, reason, f);
	/* Its uses are unchanged; only the statement may have to be written again. */
	grant_file_name(g, name);
	if (faccessat(dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return fd_replace_file(dirfd, name, g->text, strlen(g->text), 0600, f);
}

/* It may answer a request that is pending here. */
static int answer_request(const struct approval_store *d, int requestsfd, int dirfd, const struct grant *g,
			  struct fault *f)
{
	_cleanup_request_ struct request rq = { 0 };
	char id[REQUEST_ID_SIZE];
	bool complete;
	int r;

	if (requestsfd < 0)
		return 0;
	request_id(&g->digest, id);
	/* A damaged or foreign request is left for a person to remove; the grant counts without it. */
	if (request_load(requestsfd, id, &rq, NULL) < 0 || !digest_equal(&rq.digest, &g->digest) ||
	    !str_eq(rq.lane, d->lane) || !rq.ledger || !strv_has(g->ledgers, rq.ledger))
		return 0;
	r = is_complete(d, dirfd, &rq, g, &complete, f);
	return r < 0 ? r : settle_request(d, requestsfd, &rq, g->approver, complete, f);
}

/* Both locks, in their order. */
static int import_item(const struct approval_store *d, struct grant_item *item, enum grant_reason *reason,
		       struct fault *f)
{
	_cleanup_close_ int requestsfd = -EBADF, requests_lock = -EBADF, dirfd = -EBADF, lock = -EBADF;
	int r;

	r = approval_store_open_locked(d, APPROVAL_STORE_REQUESTS, false, &requestsfd, &requests_lock, f);
	if (r < 0 && r != -ENOENT)
		return r;
	r = approval_store_open_locked(d, APPROVAL_STORE_GRANTS, true, &dirfd, &lock, f);
	if (r == 0)
		r = import_locked(d, dirfd, item, reason, f);
	if (r == 0 && *reason == GRANT_VALID)
		r = answer_request(d, requestsfd, dirfd, &item->found.grant, f);
	return r;
}

int grant_import_text(const struct approval_store *d, const char *text, size_t len, const char *label,
		      const struct digest *digest, struct grant *ret, enum grant_reason *ret_reason,
		      struct fault *f)
{
	_cleanup_approvers_ struct approver_list approvers = { 0 };
	_cleanup_free_ char *ledger = NULL;
	struct grant_item item = { 0 };
	enum grant_reason reason;
	int r;

	if (len > GRANT_TEXT_MAX || grant_parse(text, len, label, &item.found.grant, NULL) < 0) {
		*ret_reason = GRANT_EDITED;
		*ret = (struct grant){ 0 };
		return 0;
	}
	r = approver_list_public(d, &approvers, f);
	if (r == 0)
		r = approval_store_ledger_key(d, &ledger, f);
	if (r < 0)
		goto out;
	reason = grant_judge_text(d, &item.found.grant, &approvers, ledger, &item.approver);
	if (reason == GRANT_VALID && digest && !digest_equal(digest, &item.found.grant.digest))
		reason = GRANT_WRONG_DIGEST;
	if (reason == GRANT_VALID)
		r = import_item(d, &item, &reason, f);
	if (r < 0)
		goto out;
	*ret_reason = reason;
	*ret = item.found.grant;
	item.found.grant = (struct grant){ 0 };
out:
	grant_done(&item.found.grant);
	grant_uses_done(&item.uses);
	return r < 0 ? fault_wrap(f, r, "grant '%s'", label) : 0;
}

int grant_import(const struct approval_store *d, const char *path, const struct digest *digest,
		 struct grant *ret, enum grant_reason *ret_reason, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	r = approval_store_read_path(path, "grant", GRANT_TEXT_MAX, &text, &len, f);
	return r < 0 ? r : grant_import_text(d, text, len, path, digest, ret, ret_reason, f);
}
