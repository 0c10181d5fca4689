/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "approval/request-impl.h"

int request_record(const struct approval_store *d, const char *kind, const char *status,
		   const struct request *r, const char *why, const char *by, struct fault *f)
{
	struct jdoc *details = jdoc_new_object();
	struct approval_store who =
		*d; /* agent and worker come from the request, not from the process that answers it */
	char digest[8 + DIGEST_HEX_SIZE] = "sha256:", level[2] = { r->level, '\0' };

	digest_to_hex(&r->digest, digest + strlen(digest));
	jdoc_set_string(details, "request", r->id);
	jdoc_set_string(details, "digest", digest);
	jdoc_set_string(details, "level", level);
	jdoc_set_string(details, "lane", r->lane);
	jdoc_set_int(details, "count", (int64_t)r->count);
	if (by)
		approval_store_put_text(details, "by", by);
	if (why)
		approval_store_put_text(details, "why", why);
	if (str_eq(kind, "approval.request")) {
		struct jdoc *askers = jdoc_set_array(details, "askers");

		approval_store_put_text(details, "command", r->command);
		for (char **a = r->askers; a && *a; a++)
			jdoc_append(askers, ledger_text(*a));
	}
	who.worker = r->worker;
	return approval_store_record(&who, kind, status, r->agent, NULL, details, LEDGER_DECIDED, NULL, f);
}

int request_remove(const struct approval_store *d, int dirfd, const struct request *rq, const char *why,
		   struct fault *f)
{
	char name[REQUEST_FILE_SIZE];
	int r = request_record(d, "approval.drop", NULL, rq, why, NULL, f);

	request_file_name(rq->id, name);
	return r < 0 ? r : approval_store_unlink(dirfd, name, f);
}

int request_sweep_locked(const struct approval_store *d, int dirfd, const struct moment *now,
			 size_t *ret_left, struct fault *f)
{
	_cleanup_strv_ char **names = NULL;
	size_t left = 0;
	int r;

	approval_store_remove_temps(dirfd);
	r = approval_store_names(dirfd, ".json", &names, f);
	for (char **n = names; r == 0 && *n; n++) {
		_cleanup_request_ struct request rq = { 0 };

		(*n)[strlen(*n) - strlen(".json")] = '\0';
		left++;
		/* A damaged request cannot expire; it counts until a person removes it by name. */
		if (request_load(dirfd, *n, &rq, NULL) < 0 || !request_is_over(&rq, now))
			continue;
		r = request_remove(d, dirfd, &rq, "expired", f);
		left--;
	}
	if (r == 0 && ret_left)
		*ret_left = left;
	return r;
}

static int add_asker(struct request *rq, uid_t uid, const char *user, struct fault *f)
{
	_cleanup_free_ char *asker = NULL;

	if (user && (strlen(user) > 256 || !str_is_utf8(user, strlen(user))))
		return fault_set(f, EINVAL, "the name of user %u is not UTF-8 of at most 256 bytes",
				 (unsigned int)uid);
	asker = request_asker_text(uid, user);
	if (!asker)
		return fault_errno(f, ENOMEM, "request");
	if (strv_has(rq->askers, asker))
		return 0;
	if (strv_len(rq->askers) >= REQUEST_ASKERS_MAX)
		return fault_set(
			f, EDQUOT,
			"request '%s' has the maximum of %d requesters: run 'custody deny %s' to clear it",
			rq->id, REQUEST_ASKERS_MAX, rq->id);
	return strv_append(&rq->askers, asker) < 0 ? fault_errno(f, ENOMEM, "request") : 0;
}

/* Commands may contain any bytes; JSON does not. */
bool request_copy_text(const char *text, char **ret)
{
	if (text)
		*ret = str_is_utf8(text, strlen(text)) ? strdup(text) : str_escape(text);
	return !text || *ret;
}

static bool copy_doc(const struct jdoc *doc, struct jdoc **ret)
{
	if (doc)
		*ret = jdoc_copy(doc);
	return !doc || (*ret && !(*ret)->broken);
}

/* One line for lists; the subject has all of it. */
bool request_copy_command(const char *text, char **ret)
{
	size_t len;

	if (!request_copy_text(text ? text : "", ret))
		return false;
	len = strlen(*ret);
	if (len > REQUEST_COMMAND_MAX) {
		for (len = REQUEST_COMMAND_MAX; ((unsigned char)(*ret)[len] & 0xc0) == 0x80; len--)
			;
		(*ret)[len] = '\0';
	}
	return true;
}

/* The requester's rules are stored with the request, for approvers elsewhere or later. */
static int set_terms(const struct approval_store *d, struct request *rq, struct fault *f)
{
	rq->needed = (unsigned int)approval_store_min_approvals(d);
	rq->no_self = !d->rules->allow_self;
	strv_free(rq->only);
	rq->only = calloc(1, sizeof(*rq->only));
	if (!rq->only)
		return fault_errno(f, ENOMEM, "request");
	for (size_t i = 0; d->rules->narrowed && i < d->rules->n_approvers; i++)
		if (strv_append(&rq->only, d->rules->approvers[i].name) < 0)
			return fault_errno(f, ENOMEM, "request");
	return 0;
}

static int fill_new(const struct approval_store *d, const struct request_ask *ask, const struct moment *now,
		    struct request *rq, struct fault *f)
{
	uint64_t life_s = d->rules->request_expiry_s ? d->rules->request_expiry_s : APPROVAL_REQUEST_EXPIRY_S;

	rq->digest = *ask->digest;
	request_id(ask->digest, rq->id);
	memcpy(rq->lane, d->lane, sizeof(rq->lane));
	rq->level = ask->level;
	rq->created = *now;
	rq->expires_us = now->wall_us + life_s * 1000000;
	rq->askers = calloc(1, sizeof(*rq->askers));
	rq->approvals = calloc(1, sizeof(*rq->approvals));
	if (!rq->askers || !rq->approvals || !request_copy_command(ask->command, &rq->command) ||
	    !request_copy_text(ask->agent, &rq->agent) || !request_copy_text(ask->worker, &rq->worker) ||
	    !request_copy_text(ask->profile, &rq->profile) || !request_copy_text(ask->alike, &rq->alike) ||
	    !copy_doc(ask->subject, &rq->subject) || !copy_doc(ask->verdict, &rq->verdict))
		return fault_errno(f, ENOMEM, "request");
	return 0;
}

int request_require_room(const struct approval_store *d, int dirfd, const struct moment *now, struct fault *f)
{
	size_t max = d->rules->requests_max ? d->rules->requests_max : APPROVAL_REQUESTS_MAX, left;
	_cleanup_strv_ char **names = NULL;
	int r;

	r = approval_store_names(dirfd, ".json", &names, f);
	if (r < 0 || strv_len(names) < max)
		return r;
	r = request_sweep_locked(d, dirfd, now, &left, f);
	if (r == 0 && left >= max)
		return fault_set(f, EDQUOT,
				 "%zu requests are pending in lane '%s', which is the maximum: answer some "
				 "('custody pending') or remove them all with 'custody deny --all'",
				 left, d->lane);
	return r;
}

/* Finds the file of DIGEST, unless it is expired: then it is dropped, and none is returned. */
int request_load_current(const struct approval_store *d, int dirfd, const struct digest *digest,
			 const struct moment *now, struct request *ret, struct fault *f)
{
	_cleanup_request_ struct request rq = { 0 };
	char id[REQUEST_ID_SIZE];
	int r;

	request_id(digest, id);
	r = request_load(dirfd, id, &rq, f);
	if (r < 0)
		return r;
	if (!digest_equal(&rq.digest, digest))
		return fault_set(f, EEXIST,
				 "another request has the id '%s': answer it first, or run 'custody deny %s'",
				 id, id);
	if (!str_eq(rq.lane, d->lane))
		return fault_set(f, EACCES, "request '%s' belongs to lane '%s', not to '%s'", id, rq.lane,
				 d->lane);
	if (request_is_over(&rq, now)) {
		r = request_remove(d, dirfd, &rq, "expired", f);
		return r < 0 ? r : -ENOENT;
	}
	*ret = rq;
	rq = (struct request){ 0 };
	return 0;
}

/* Approved requests of this lane count for its ledger only; one that came from another machine keeps its own. */
static int set_ledger(const struct approval_store *d, struct request *rq, struct fault *f)
{
	_cleanup_free_ char *own = NULL;
	int r = approval_store_ledger_key(d, &own, f);

	if (r < 0)
		return r;
	for (char **a = rq->askers; rq->ledger && !str_eq(rq->ledger, own) && a && *a; a++)
		if (**a == REQUEST_ASKER_IMPORTED)
			return fault_set(
				f, EEXIST,
				"request '%s' is pending here for another machine's ledger: answer it first, "
				"or run 'custody deny %s'",
				rq->id, rq->id);
	free(rq->ledger);
	rq->ledger = TAKE_PTR(own);
	return 0;
}

int request_file(const struct approval_store *d, const struct request_ask *ask, struct request *ret,
		 struct fault *f)
{
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	struct moment now;
	bool first;
	int r;

	if (ask->level != 'B' && ask->level != 'C')
		return fault_set(f, EINVAL, "level '%c' needs no approval", ask->level);
	r = approval_store_open_locked(d, APPROVAL_STORE_REQUESTS, true, &dirfd, &lock, f);
	if (r == 0)
		r = approval_store_now(d, &now, f);
	if (r < 0)
		return r;
	r = request_load_current(d, dirfd, ask->digest, &now, &rq, f);
	first = r == -ENOENT;
	if (first) {
		r = request_require_room(d, dirfd, &now, f);
		if (r == 0)
			r = fill_new(d, ask, &now, &rq, f);
	}
	if (r == 0)
		r = set_ledger(d, &rq, f);
	if (r == 0)
		r = set_terms(d, &rq, f);
	/* The program may be another one than at the first request: the digest of the subject does not cover it. */
	if (r == 0) {
		jdoc_free(rq.standing);
		rq.standing = NULL;
		r = copy_doc(ask->standing, &rq.standing) ? 0 : fault_errno(f, ENOMEM, "request");
	}
	if (r == 0)
		r = add_asker(&rq, ask->uid, ask->user, f);
	if (r == 0 && d->login != APPROVER_NO_UID && d->login != ask->uid)
		r = add_asker(&rq, d->login, NULL, f);
	if (r < 0)
		return r;
	rq.count++;
	if (ask->level > rq.level)
		rq.level = ask->level;
	if (first)
		r = request_record(d, "approval.request", NULL, &rq, NULL, NULL, f);
	if (r == 0)
		r = request_store(dirfd, &rq, f);
	if (r < 0)
		return r;
	*ret = rq;
	rq = (struct request){ 0 };
	return 0;
}
