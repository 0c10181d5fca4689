/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "approval/request-impl.h"

static const struct approval_store_names_of request_names = { "request", "custody pending", ".json" };

/* Before anything is recorded: refuse text that could not be written afterwards. */
static int require_words(const char *by, const char *reason, struct fault *f)
{
	if (!str_is_utf8(by, strlen(by)) || (reason && !str_is_utf8(reason, strlen(reason))))
		return fault_set(f, EINVAL, "names and reasons must be UTF-8");
	if (strlen(by) > 256 || (reason && strlen(reason) > REQUEST_REASON_MAX))
		return fault_set(f, EINVAL, "the reason must have at most %d bytes", REQUEST_REASON_MAX);
	return 0;
}

/* Directory, lock, and the request that BEGINNING names. */
static int open_named(const struct approval_store *d, const char *beginning, int *ret_dirfd, int *ret_lock,
		      struct request *ret, struct moment *now, struct fault *f)
{
	char id[REQUEST_ID_SIZE];
	int r;

	r = approval_store_open_locked(d, APPROVAL_STORE_REQUESTS, false, ret_dirfd, ret_lock, f);
	if (r == -ENOENT)
		return fault_set(f, ENOENT, "no request '%s' in lane '%s': no request is pending", beginning,
				 d->lane);
	if (r == 0)
		r = approval_store_now(d, now, f);
	if (r == 0)
		r = approval_store_resolve(d, *ret_dirfd, &request_names, beginning, id, f);
	if (r < 0)
		return r;
	r = request_load(*ret_dirfd, id, ret, f);
	if (r == 0 && !str_eq(ret->lane, d->lane))
		r = fault_set(f, EACCES, "request '%s' belongs to lane '%s', not to '%s'", id, ret->lane,
			      d->lane);
	if (r == 0 && request_is_over(ret, now)) {
		r = request_remove(d, *ret_dirfd, ret, "expired", f);
		request_done(ret);
		if (r == 0)
			r = fault_set(f, ENOENT, "request '%s' has expired: request it again", id);
	}
	return r == -ENOENT && f && !f->code ? fault_set(f, ENOENT, "request '%s' was removed", id) : r;
}

int request_read(const struct approval_store *d, const char *id, struct request *ret, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	_cleanup_request_ struct request rq = { 0 };
	struct moment now;
	int r;

	r = open_named(d, id, &dirfd, &lock, &rq, &now, f);
	if (r < 0)
		return r;
	*ret = rq;
	rq = (struct request){ 0 };
	return 0;
}

static int by_age(const void *a, const void *b)
{
	uint64_t x = ((const struct request *)a)->created.wall_us,
		 y = ((const struct request *)b)->created.wall_us;

	return x < y ? -1 : x > y;
}

static void mark_damaged(const char *id, const char *lane, struct request *rq)
{
	request_done(rq);
	*rq = (struct request){ .level = '?', .state = REQUEST_DAMAGED };
	(void)snprintf(rq->id, sizeof(rq->id), "%s", id);
	(void)snprintf(rq->lane, sizeof(rq->lane), "%s", lane);
}

int request_list(const struct approval_store *d, bool denied_too, struct request_list *ret, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	_cleanup_requests_ struct request_list l = { 0 };
	_cleanup_strv_ char **names = NULL;
	struct moment now;
	void *items;
	int r;

	r = approval_store_open_locked(d, APPROVAL_STORE_REQUESTS, false, &dirfd, &lock, f);
	if (r == -ENOENT) {
		*ret = (struct request_list){ 0 };
		return 0;
	}
	if (r == 0)
		r = approval_store_now(d, &now, f);
	if (r == 0 && d->ledger)
		r = request_sweep_locked(d, dirfd, &now, NULL, f);
	if (r == 0)
		r = approval_store_list(dirfd, "requests", sizeof(*l.items), &names, &items, f);
	if (r < 0)
		return r;
	l.items = items;
	for (char **n = names; *n; n++) {
		struct request *rq = &l.items[l.n];

		(*n)[strlen(*n) - strlen(".json")] = '\0';
		r = request_load(dirfd, *n, rq, NULL);
		if (r == -ENOMEM)
			return fault_errno(f, ENOMEM, "requests");
		l.n++;
		/* A damaged request does not hide the others. */
		if (r < 0)
			mark_damaged(*n, d->lane, rq);
		else if (request_is_over(rq, &now) || !str_eq(rq->lane, d->lane) ||
			 (rq->state == REQUEST_DENIED && !denied_too)) {
			request_done(rq);
			l.n--;
		}
	}
	qsort(l.items, l.n, sizeof(*l.items), by_age);
	*ret = l;
	l = (struct request_list){ 0 };
	return 0;
}

int request_deny(const struct approval_store *d, const char *id, const char *by, const char *reason,
		 struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	_cleanup_request_ struct request rq = { 0 };
	struct moment now;
	int r;

	r = require_words(by, reason, f);
	if (r == 0)
		r = open_named(d, id, &dirfd, &lock, &rq, &now, f);
	if (r < 0)
		return r;
	rq.state = REQUEST_DENIED;
	rq.denied_us = now.wall_us;
	free(rq.denied_by);
	free(rq.denied_reason);
	rq.denied_reason = NULL;
	rq.denied_by = strdup(by);
	if (!rq.denied_by || !request_copy_text(reason, &rq.denied_reason))
		return fault_errno(f, ENOMEM, "request");
	r = request_record(d, "approval.deny", "denied", &rq, reason, by, f);
	return r < 0 ? r : request_store(dirfd, &rq, f);
}

int request_drop(const struct approval_store *d, const char *id, const char *why, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	_cleanup_request_ struct request rq = { 0 };
	int r;

	r = approval_store_open_locked(d, APPROVAL_STORE_REQUESTS, false, &dirfd, &lock, f);
	if (r == -ENOENT)
		return fault_set(f, ENOENT, "no request '%s' in lane '%s': no request is pending", id,
				 d->lane);
	if (r == 0)
		r = approval_store_resolve(d, dirfd, &request_names, id, rq.id, f);
	if (r < 0)
		return r;
	/* A damaged file must be removable too; then only its name is recorded. */
	if (request_load(dirfd, rq.id, &rq, NULL) < 0) {
		rq.level = '?';
		memcpy(rq.lane, d->lane, sizeof(rq.lane));
	}
	return request_remove(d, dirfd, &rq, why, f);
}

int request_drop_all(const struct approval_store *d, const char *why, unsigned int *ret_n, struct fault *f)
{
	_cleanup_close_ int dirfd = approval_store_open_dir(d, APPROVAL_STORE_REQUESTS, false, f);
	_cleanup_strv_ char **names = NULL;
	unsigned int n = 0;
	int r;

	if (dirfd == -ENOENT) {
		*ret_n = 0;
		return 0;
	}
	if (dirfd < 0)
		return dirfd;
	r = approval_store_names(dirfd, ".json", &names, f);
	for (char **name = names; r == 0 && *name; name++) {
		(*name)[strlen(*name) - strlen(".json")] = '\0';
		r = request_drop(d, *name, why, f);
		n += r == 0;
		if (r == -ENOENT) { /* answered concurrently */
			if (f)
				fault_done(f);
			r = 0;
		}
	}
	if (r == 0)
		*ret_n = n;
	return r;
}

int request_sweep(const struct approval_store *d, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	struct moment now;
	int r;

	r = approval_store_open_locked(d, APPROVAL_STORE_REQUESTS, false, &dirfd, &lock, f);
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = approval_store_now(d, &now, f);
	return r < 0 ? r : request_sweep_locked(d, dirfd, &now, NULL, f);
}
