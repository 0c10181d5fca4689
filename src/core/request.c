/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/request-impl.h"

#define BEGINNING_MIN 4 /* digits of an id that people may type instead of all */

int request_record(const struct desk *d, const char *kind, const char *status, const struct request *r,
		   const char *why, const char *by, struct fault *f)
{
	struct jdoc *details = jdoc_new_object();
	char digest[8 + DIGEST_HEX_SIZE] = "sha256:", level[2] = { r->level, '\0' };

	digest_to_hex(&r->digest, digest + strlen(digest));
	jdoc_set_string(details, "request", r->id);
	jdoc_set_string(details, "digest", digest);
	jdoc_set_string(details, "level", level);
	jdoc_set_string(details, "lane", r->lane);
	jdoc_set_int(details, "count", (int64_t)r->count);
	if (by)
		desk_put_text(details, "by", by);
	if (why)
		desk_put_text(details, "why", why);
	if (str_eq(kind, "approval.request")) {
		struct jdoc *askers = jdoc_set_array(details, "askers");

		desk_put_text(details, "command", r->command);
		for (char **a = r->askers; a && *a; a++)
			jdoc_append(askers, ledger_text(*a));
	}
	return desk_record(d, kind, status, r->agent, NULL, details, LEDGER_DECIDED, NULL, f);
}

/* Directory and lock.  -ENOENT only without CREATE. */
static int open_locked(const struct desk *d, bool create, int *ret_dirfd, int *ret_lock, struct fault *f)
{
	_cleanup_close_ int dirfd = desk_open_dir(d, DESK_REQUESTS, create, f), lock = -EBADF;

	if (dirfd < 0)
		return dirfd;
	lock = desk_lock(dirfd, REQUEST_LOCK, f);
	if (lock < 0)
		return lock;
	*ret_dirfd = TAKE_FD(dirfd);
	*ret_lock = TAKE_FD(lock);
	return 0;
}

static int drop(const struct desk *d, int dirfd, const struct request *rq, const char *why, struct fault *f)
{
	char name[REQUEST_FILE_SIZE];
	int r = request_record(d, "approval.drop", NULL, rq, why, NULL, f);

	request_file_name(rq->id, name);
	return r < 0 ? r : desk_unlink(dirfd, name, f);
}

static int sweep(const struct desk *d, int dirfd, const struct moment *now, size_t *ret_left, struct fault *f)
{
	_cleanup_strv_ char **names = NULL;
	size_t left = 0;
	int r;

	desk_remove_temps(dirfd);
	r = desk_names(dirfd, ".json", &names, f);
	for (char **n = names; r == 0 && *n; n++) {
		_cleanup_request_ struct request rq = { 0 };

		(*n)[strlen(*n) - strlen(".json")] = '\0';
		left++;
		/* A damaged one cannot expire; it counts until a person removes it by name. */
		if (request_load(dirfd, *n, &rq, NULL) < 0 || !request_is_over(&rq, now))
			continue;
		r = drop(d, dirfd, &rq, "expired", f);
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
	asker = asker_text(uid, user);
	if (!asker)
		return fault_errno(f, ENOMEM, "request");
	if (strv_has(rq->askers, asker))
		return 0;
	if (strv_len(rq->askers) >= REQUEST_ASKERS_MAX)
		return fault_set(f, EDQUOT,
				 "request '%s' was asked by %d users already: 'custody deny %s' clears it",
				 rq->id, REQUEST_ASKERS_MAX, rq->id);
	return strv_append(&rq->askers, asker) < 0 ? fault_errno(f, ENOMEM, "request") : 0;
}

/* Commands may hold any bytes; JSON does not. */
static bool copy_text(const char *text, char **ret)
{
	if (text)
		*ret = str_is_utf8(text, strlen(text)) ? strdup(text) : str_escape(text);
	return !text || *ret;
}

/* Before anything is recorded: what could not be written afterwards. */
static int require_words(const char *by, const char *reason, struct fault *f)
{
	if (!str_is_utf8(by, strlen(by)) || (reason && !str_is_utf8(reason, strlen(reason))))
		return fault_set(f, EINVAL, "names and reasons must be UTF-8");
	if (strlen(by) > 256 || (reason && strlen(reason) > REQUEST_REASON_MAX))
		return fault_set(f, EINVAL, "a reason has at most %d bytes", REQUEST_REASON_MAX);
	return 0;
}

static bool copy_doc(const struct jdoc *doc, struct jdoc **ret)
{
	if (doc)
		*ret = jdoc_copy(doc);
	return !doc || (*ret && !(*ret)->broken);
}

/* A line for lists; the whole of it is in the subject. */
static bool copy_command(const char *text, char **ret)
{
	size_t len;

	if (!copy_text(text ? text : "", ret))
		return false;
	len = strlen(*ret);
	if (len > REQUEST_COMMAND_MAX) {
		for (len = REQUEST_COMMAND_MAX; ((unsigned char)(*ret)[len] & 0xc0) == 0x80; len--)
			;
		(*ret)[len] = '\0';
	}
	return true;
}

static int fill_new(const struct desk *d, const struct request_ask *ask, const struct moment *now,
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
	if (!rq->askers || !rq->approvals || !copy_command(ask->command, &rq->command) ||
	    !copy_text(ask->agent, &rq->agent) || !copy_text(ask->profile, &rq->profile) ||
	    !copy_text(ask->alike, &rq->alike) || !copy_doc(ask->subject, &rq->subject) ||
	    !copy_doc(ask->verdict, &rq->verdict))
		return fault_errno(f, ENOMEM, "request");
	return 0;
}

static int require_room(const struct desk *d, int dirfd, const struct moment *now, struct fault *f)
{
	size_t max = d->rules->requests_max ? d->rules->requests_max : APPROVAL_REQUESTS_MAX, left;
	_cleanup_strv_ char **names = NULL;
	int r;

	r = desk_names(dirfd, ".json", &names, f);
	if (r < 0 || strv_len(names) < max)
		return r;
	r = sweep(d, dirfd, now, &left, f);
	if (r == 0 && left >= max)
		return fault_set(f, EDQUOT,
				 "%zu requests wait in lane '%s', which is as many as may: answer some "
				 "('custody pending') or "
				 "clear them all with 'custody deny --all'",
				 left, d->lane);
	return r;
}

/* Finds the file of DIGEST, unless its time is over: then it is dropped, and there is none. */
static int load_current(const struct desk *d, int dirfd, const struct digest *digest,
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
				 "another request has the id '%s': answer that one first, 'custody deny %s'",
				 id, id);
	if (!str_eq(rq.lane, d->lane))
		return fault_set(f, EACCES, "request '%s' belongs to lane '%s', this is '%s'", id, rq.lane,
				 d->lane);
	if (request_is_over(&rq, now)) {
		r = drop(d, dirfd, &rq, "expired", f);
		return r < 0 ? r : -ENOENT;
	}
	*ret = rq;
	rq = (struct request){ 0 };
	return 0;
}

int request_file(const struct desk *d, const struct request_ask *ask, struct request *ret, struct fault *f)
{
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	struct moment now;
	bool first;
	int r;

	if (ask->level != 'B' && ask->level != 'C')
		return fault_set(f, EINVAL, "nobody is asked about level '%c'", ask->level);
	r = open_locked(d, true, &dirfd, &lock, f);
	if (r == 0)
		r = desk_now(d, &now, f);
	if (r < 0)
		return r;
	r = load_current(d, dirfd, ask->digest, &now, &rq, f);
	first = r == -ENOENT;
	if (first) {
		r = require_room(d, dirfd, &now, f);
		if (r == 0)
			r = fill_new(d, ask, &now, &rq, f);
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

static int read_carried(const char *path, struct request *ret, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "open request '%s'", path);
	r = fd_read_all(fd, DESK_FILE_MAX, &text, &len, f);
	return r < 0 ? fault_wrap(f, r, "request '%s'", path) : request_parse(text, len, path, ret, f);
}

static int mark_carried(struct request *rq, struct fault *f)
{
	for (char **a = rq->askers; *a; a++) {
		char *marked = NULL;

		if (**a == ASKER_CARRIED)
			continue;
		if (asprintf(&marked, "%c%s", ASKER_CARRIED, *a) < 0)
			return fault_errno(f, ENOMEM, "request");
		free(*a);
		*a = marked;
	}
	return 0;
}

/* The sender's line for lists is the sender's; this one is from what the digest covers. */
static int name_command(struct request *rq, struct fault *f)
{
	const struct jdoc *argv = jdoc_get(rq->subject, "argv");
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_free_ char *line = NULL;

	for (size_t i = 0; argv && argv->type == JDOC_ARRAY && i < argv->n_items; i++)
		strbuf_printf(&b, "%s%s", i ? " " : "",
			      argv->items[i]->type == JDOC_STRING ? argv->items[i]->string : "(bytes)");
	line = strbuf_take(&b);
	free(rq->command);
	rq->command = NULL;
	return line && copy_command(line, &rq->command) ? 0 : fault_errno(f, ENOMEM, "request");
}

int request_adopt(const struct desk *d, const char *path, struct request *ret, struct fault *f)
{
	_cleanup_request_ struct request rq = { 0 }, here = { 0 };
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	struct moment now;
	int r;

	r = read_carried(path, &rq, f);
	if (r == 0 && !str_eq(rq.lane, d->lane))
		r = fault_set(f, EACCES, "request '%s' belongs to lane '%s', this is '%s'", path, rq.lane,
			      d->lane);
	/* Without the document there is only its sender's word for what the digest stands for. */
	if (r == 0 && !rq.subject)
		r = fault_set(f, EINVAL, "request '%s' carries no subject: nobody could say what is approved",
			      path);
	if (r == 0)
		r = open_locked(d, true, &dirfd, &lock, f);
	if (r == 0)
		r = desk_now(d, &now, f);
	if (r < 0)
		return r;
	if (now.wall_us >= rq.expires_us)
		return fault_set(f, ETIME, "request '%s' has expired: have it asked again", path);
	r = load_current(d, dirfd, &rq.digest, &now, &here, f);
	if (r != -ENOENT)
		goto out;
	r = mark_carried(&rq, f);
	if (r == 0)
		r = name_command(&rq, f);
	if (r < 0)
		return r;
	/* Its clocks are another machine's; what is left of its time runs on ours. */
	rq.created = now;
	rq.state = REQUEST_OPEN;
	r = require_room(d, dirfd, &now, f);
	if (r == 0)
		r = request_record(d, "approval.request", "carried", &rq, NULL, NULL, f);
	if (r == 0)
		r = request_store(dirfd, &rq, f);
	request_done(&here);
	here = rq;
	rq = (struct request){ 0 };
out:
	if (r < 0)
		return r;
	*ret = here;
	here = (struct request){ 0 };
	return 0;
}

/* The id that BEGINNING stands for. */
static int resolve(const struct desk *d, int dirfd, const char *beginning, char id[REQUEST_ID_SIZE],
		   struct fault *f)
{
	_cleanup_strv_ char **names = NULL;
	const char *found = NULL;
	size_t len = strlen(beginning);
	int r;

	if (len < BEGINNING_MIN || len >= REQUEST_ID_SIZE || strspn(beginning, "0123456789abcdef") != len)
		return fault_set(f, EINVAL,
				 "'%s' is no request: give at least %d of its 16 hex digits, 'custody "
				 "pending' lists them",
				 beginning, BEGINNING_MIN);
	r = desk_names(dirfd, ".json", &names, f);
	if (r < 0)
		return r;
	for (char **n = names; *n; n++) {
		if (!str_starts(*n, beginning) || strlen(*n) != REQUEST_ID_SIZE - 1 + strlen(".json"))
			continue;
		if (found)
			return fault_set(f, EINVAL, "'%s' begins more than one request: give more digits",
					 beginning);
		found = *n;
	}
	if (!found)
		return fault_set(f, ENOENT, "no request '%s' in lane '%s': 'custody pending' lists them",
				 beginning, d->lane);
	memcpy(id, found, REQUEST_ID_SIZE - 1);
	id[REQUEST_ID_SIZE - 1] = '\0';
	return 0;
}

/* Directory, lock, and the request that BEGINNING names. */
static int open_named(const struct desk *d, const char *beginning, int *ret_dirfd, int *ret_lock,
		      struct request *ret, struct moment *now, struct fault *f)
{
	char id[REQUEST_ID_SIZE];
	int r;

	r = open_locked(d, false, ret_dirfd, ret_lock, f);
	if (r == -ENOENT)
		return fault_set(f, ENOENT, "no request '%s' in lane '%s': nothing waits", beginning,
				 d->lane);
	if (r == 0)
		r = desk_now(d, now, f);
	if (r == 0)
		r = resolve(d, *ret_dirfd, beginning, id, f);
	if (r < 0)
		return r;
	r = request_load(*ret_dirfd, id, ret, f);
	if (r == 0 && !str_eq(ret->lane, d->lane))
		r = fault_set(f, EACCES, "request '%s' belongs to lane '%s', this is '%s'", id, ret->lane,
			      d->lane);
	if (r == 0 && request_is_over(ret, now)) {
		r = drop(d, *ret_dirfd, ret, "expired", f);
		request_done(ret);
		if (r == 0)
			r = fault_set(f, ENOENT, "request '%s' has expired: have it asked again", id);
	}
	return r == -ENOENT && f && !f->code ? fault_set(f, ENOENT, "request '%s' is gone", id) : r;
}

int request_read(const struct desk *d, const char *id, struct request *ret, struct fault *f)
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

int request_list(const struct desk *d, bool denied_too, struct request_list *ret, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	_cleanup_requests_ struct request_list l = { 0 };
	_cleanup_strv_ char **names = NULL;
	struct moment now;
	int r;

	r = open_locked(d, false, &dirfd, &lock, f);
	if (r == -ENOENT) {
		*ret = (struct request_list){ 0 };
		return 0;
	}
	if (r == 0)
		r = desk_now(d, &now, f);
	if (r == 0 && d->ledger)
		r = sweep(d, dirfd, &now, NULL, f);
	if (r == 0)
		r = desk_names(dirfd, ".json", &names, f);
	if (r < 0)
		return r;
	l.items = calloc(strv_len(names) + 1, sizeof(*l.items));
	if (!l.items)
		return fault_errno(f, ENOMEM, "requests");
	for (char **n = names; *n; n++) {
		struct request *rq = &l.items[l.n];

		(*n)[strlen(*n) - strlen(".json")] = '\0';
		r = request_load(dirfd, *n, rq, f);
		if (r < 0)
			return r;
		l.n++;
		if (request_is_over(rq, &now) || !str_eq(rq->lane, d->lane) ||
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

int request_deny(const struct desk *d, const char *id, const char *by, const char *reason, struct fault *f)
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
	if (!rq.denied_by || !copy_text(reason, &rq.denied_reason))
		return fault_errno(f, ENOMEM, "request");
	r = request_record(d, "approval.deny", "denied", &rq, reason, by, f);
	return r < 0 ? r : request_store(dirfd, &rq, f);
}

int request_drop(const struct desk *d, const char *id, const char *why, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	_cleanup_request_ struct request rq = { 0 };
	int r;

	r = open_locked(d, false, &dirfd, &lock, f);
	if (r == -ENOENT)
		return fault_set(f, ENOENT, "no request '%s' in lane '%s': nothing waits", id, d->lane);
	if (r == 0)
		r = resolve(d, dirfd, id, rq.id, f);
	if (r < 0)
		return r;
	/* A damaged file must go too; then its name is all there is to record. */
	if (request_load(dirfd, rq.id, &rq, NULL) < 0) {
		rq.level = '?';
		memcpy(rq.lane, d->lane, sizeof(rq.lane));
	}
	return drop(d, dirfd, &rq, why, f);
}

int request_drop_all(const struct desk *d, const char *why, unsigned int *ret_n, struct fault *f)
{
	_cleanup_close_ int dirfd = desk_open_dir(d, DESK_REQUESTS, false, f);
	_cleanup_strv_ char **names = NULL;
	unsigned int n = 0;
	int r;

	if (dirfd == -ENOENT) {
		*ret_n = 0;
		return 0;
	}
	if (dirfd < 0)
		return dirfd;
	r = desk_names(dirfd, ".json", &names, f);
	for (char **name = names; r == 0 && *name; name++) {
		(*name)[strlen(*name) - strlen(".json")] = '\0';
		r = request_drop(d, *name, why, f);
		n += r == 0;
		if (r == -ENOENT) { /* answered meanwhile */
			if (f)
				fault_done(f);
			r = 0;
		}
	}
	if (r == 0)
		*ret_n = n;
	return r;
}

int request_sweep(const struct desk *d, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	struct moment now;
	int r;

	r = open_locked(d, false, &dirfd, &lock, f);
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = desk_now(d, &now, f);
	return r < 0 ? r : sweep(d, dirfd, &now, NULL, f);
}
