/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/process.h"
#include "approval/grant-impl.h"

#define RESERVED_MAX 1024

/* clang-format off */
static const struct approval_store_shape uses_shape[] = {
	{ "schema_version", JDOC_INT,    false },
	{ "statement",      JDOC_STRING, false },
	{ "used",           JDOC_INT,    false },
	{ "last",           JDOC_OBJECT, true  },
	{ "last_session",   JDOC_STRING, true  },
	{ "reserved",       JDOC_ARRAY,  false },
	{ "revoked_by",     JDOC_STRING, true  },
	{ "revoked_us",     JDOC_INT,    true  },
	{ 0 },
};
static const struct approval_store_shape reserved_shape[] = {
	{ "session", JDOC_STRING, false },
	{ "pid",     JDOC_INT,    false },
	{ "start",   JDOC_INT,    false },
	{ "pidns",   JDOC_INT,    false },
	{ "boot",    JDOC_STRING, false },
	{ "seq",     JDOC_INT,    false },
	{ 0 },
};
/* clang-format on */

void grant_uses_done(struct grant_uses *u)
{
	free(u->reserved);
	free(u->revoked_by);
	*u = (struct grant_uses){ 0 };
}

static bool take_session(const char *text, char ret[SESSION_NAME_MAX + 1])
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
	size_t len = text ? strlen(text) : 0;

	if (len == 0 || len > SESSION_NAME_MAX || strspn(text, allowed) != len)
		return false;
	memcpy(ret, text, len + 1);
	return true;
}

static bool take_reserved(const struct jdoc *doc, struct grant_reservation *r)
{
	const char *boot;
	int64_t pid, start, pidns, seq;

	if (approval_store_require_shape(doc, reserved_shape, "reservation", NULL) < 0)
		return false;
	boot = jdoc_get_string(doc, "boot");
	pid = approval_store_get_int(doc, "pid");
	start = approval_store_get_int(doc, "start");
	pidns = approval_store_get_int(doc, "pidns");
	seq = approval_store_get_int(doc, "seq");
	if (!take_session(jdoc_get_string(doc, "session"), r->session) || !approval_store_is_boot_id(boot) ||
	    pid < 1 || pid > INT32_MAX || start < 0 || pidns < 0 || seq < 0)
		return false;
	r->pid = (pid_t)pid;
	r->start = (uint64_t)start;
	r->pidns = (uint64_t)pidns;
	r->seq = (uint64_t)seq;
	memcpy(r->boot, boot, sizeof(r->boot));
	return true;
}

static bool take(const struct jdoc *doc, struct grant_uses *u)
{
	const struct jdoc *reserved = jdoc_get(doc, "reserved"), *last = jdoc_get(doc, "last");
	const char *by = jdoc_get_string(doc, "revoked_by");
	int64_t used = approval_store_get_int(doc, "used");

	if (approval_store_get_int(doc, "schema_version") != 1 || used < 0 ||
	    reserved->n_items > RESERVED_MAX ||
	    digest_from_hex(jdoc_get_string(doc, "statement"), &u->statement) < 0)
		return false;
	u->used = (uint64_t)used;
	if (last && (approval_store_get_moment(last, &u->last) < 0 ||
		     !take_session(jdoc_get_string(doc, "last_session"), u->last_session)))
		return false;
	if (by) {
		u->revoked_by = strdup(by);
		u->revoked_us = (uint64_t)approval_store_get_int(doc, "revoked_us");
		if (!u->revoked_by)
			return false;
	}
	u->reserved = calloc(reserved->n_items + 1, sizeof(*u->reserved));
	for (size_t i = 0; u->reserved && i < reserved->n_items; i++)
		if (!take_reserved(reserved->items[i], &u->reserved[u->n_reserved++]))
			return false;
	return u->reserved != NULL;
}

int grant_uses_load(int dirfd, const char *id, struct grant_uses *ret, struct fault *f)
{
	_cleanup_uses_ struct grant_uses u = { 0 };
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	char name[GRANT_ID_SIZE + sizeof(".uses")], label[64];
	int r;

	(void)snprintf(name, sizeof(name), "%.16s.uses", id);
	(void)snprintf(label, sizeof(label), "uses of grant '%.16s'", id);
	r = approval_store_read_json(dirfd, name, label, &doc, f);
	if (r == 0)
		r = approval_store_require_shape(doc, uses_shape, label, f);
	if (r < 0)
		return r;
	if (!take(doc, &u))
		return fault_set(f, EBADMSG, "%s: damaged", label);
	*ret = u;
	u = (struct grant_uses){ 0 };
	return 0;
}

int grant_uses_read(int dirfd, const struct grant *g, struct grant_uses *ret, struct fault *f)
{
	_cleanup_uses_ struct grant_uses u = { 0 };
	int r = grant_uses_load(dirfd, g->id, &u, f);

	if (r < 0)
		return r;
	if (!digest_equal(&u.statement, &g->statement))
		return fault_set(f, EBADMSG, "uses of grant '%s': they belong to another grant", g->id);
	*ret = u;
	u = (struct grant_uses){ 0 };
	return 0;
}

int grant_uses_write(int dirfd, const struct grant_uses *u, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = jdoc_new_object();
	struct jdoc *reserved = jdoc_set_array(doc, "reserved");
	char hex[DIGEST_HEX_SIZE], name[GRANT_ID_SIZE + sizeof(".uses")];

	digest_to_hex(&u->statement, hex);
	(void)snprintf(name, sizeof(name), "%.16s.uses", hex);
	jdoc_set_int(doc, "schema_version", 1);
	jdoc_set_string(doc, "statement", hex);
	jdoc_set_int(doc, "used", (int64_t)u->used);
	if (u->last_session[0]) {
		approval_store_put_moment(&u->last, jdoc_set_object(doc, "last"));
		jdoc_set_string(doc, "last_session", u->last_session);
	}
	for (size_t i = 0; i < u->n_reserved; i++) {
		struct jdoc *o = jdoc_append_object(reserved);

		jdoc_set_string(o, "session", u->reserved[i].session);
		jdoc_set_int(o, "pid", u->reserved[i].pid);
		jdoc_set_int(o, "start", (int64_t)u->reserved[i].start);
		jdoc_set_int(o, "pidns", (int64_t)u->reserved[i].pidns);
		jdoc_set_string(o, "boot", u->reserved[i].boot);
		jdoc_set_int(o, "seq", (int64_t)u->reserved[i].seq);
	}
	if (u->revoked_by) {
		jdoc_set_string(doc, "revoked_by", u->revoked_by);
		jdoc_set_int(doc, "revoked_us", (int64_t)u->revoked_us);
	}
	return approval_store_write_json(dirfd, name, doc, f);
}

const struct grant_reservation *grant_uses_find(const struct grant_uses *u, const char *session)
{
	for (size_t i = 0; session && i < u->n_reserved; i++)
		if (str_eq(u->reserved[i].session, session))
			return &u->reserved[i];
	return NULL;
}

int grant_uses_add(struct grant_uses *u, const struct grant_reservation *r, struct fault *f)
{
	struct grant_reservation *grown;

	if (grant_uses_find(u, r->session))
		return 0;
	if (u->n_reserved >= RESERVED_MAX)
		return fault_set(f, EDQUOT, "%d sessions hold a reservation of one grant", RESERVED_MAX);
	grown = reallocarray(u->reserved, u->n_reserved + 1, sizeof(*grown));
	if (!grown)
		return fault_errno(f, ENOMEM, "reservation");
	grown[u->n_reserved++] = *r;
	u->reserved = grown;
	u->changed = true;
	return 0;
}

bool grant_uses_drop(struct grant_uses *u, const char *session)
{
	for (size_t i = 0; i < u->n_reserved; i++) {
		if (!str_eq(u->reserved[i].session, session))
			continue;
		u->n_reserved--;
		memmove(&u->reserved[i], &u->reserved[i + 1], (u->n_reserved - i) * sizeof(*u->reserved));
		u->changed = true;
		return true;
	}
	return false;
}

static uint64_t own_pidns(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) < 0 ? 0 : (uint64_t)st.st_ino;
}

int grant_reservation_init(struct grant_reservation *r, const char *session, pid_t pid,
			   const struct moment *now, struct fault *f)
{
	*r = (struct grant_reservation){ .pid = pid ? pid : getpid(), .pidns = own_pidns() };
	if (!take_session(session, r->session))
		return fault_set(f, EINVAL, "'%s' is not a session id", session ? session : "");
	memcpy(r->boot, now->boot, sizeof(r->boot));
	if (process_start_time(r->pid, &r->start) != 1)
		return fault_set(f, ESRCH, "no process %d, for which session '%s' is to be approved",
				 (int)r->pid, session);
	return 0;
}

bool grant_reservation_is_dead(const struct grant_reservation *r, const struct moment *now)
{
	uint64_t start = 0;
	int there;

	if (!str_eq(r->boot, now->boot))
		return true;
	/*
	 * A pid of another pid namespace has no meaning here: its use stays reserved until the grant expires.
	 */
	if (r->pidns != own_pidns())
		return false;
	there = process_start_time(r->pid, &start);
	return there == 0 || (there == 1 && start != r->start);
}

/* The record precedes the state: if its writer died in between, only the record exists. */
int grant_uses_was_consumed(const struct approval_store *d, const struct grant_uses *u,
			    const struct grant_reservation *r, struct fault *f)
{
	char grant[sizeof("\"grant\":\"\"") + DIGEST_HEX_SIZE],
		session[sizeof("\"session\":\"\"") + SESSION_NAME_MAX];
	char hex[DIGEST_HEX_SIZE];

	digest_to_hex(&u->statement, hex);
	(void)snprintf(grant, sizeof(grant), "\"grant\":\"%s\"", hex);
	(void)snprintf(session, sizeof(session), "\"session\":\"%s\"", r->session);
	return approval_store_recorded(d, r->seq, "grant.consume", grant, session, f);
}

int grant_uses_settle(const struct approval_store *d, struct grant_uses *u, const struct moment *now,
		      char ***ret_returned, struct fault *f)
{
	for (size_t i = 0; i < u->n_reserved;) {
		struct grant_reservation r = u->reserved[i];
		int consumed;

		if (!grant_reservation_is_dead(&r, now)) {
			i++;
			continue;
		}
		consumed = grant_uses_was_consumed(d, u, &r, f);
		if (consumed < 0)
			return fault_wrap(f, consumed, "search the ledger for session '%s'", r.session);
		(void)grant_uses_drop(u, r.session);
		if (consumed) {
			u->used++;
			u->last = *now;
			memcpy(u->last_session, r.session, sizeof(r.session));
		} else if (ret_returned && strv_append(ret_returned, r.session) < 0) {
			return fault_errno(f, ENOMEM, "reservation");
		}
	}
	return 0;
}
