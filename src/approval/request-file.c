/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "approval/request-impl.h"
#include "subject/subject-digest.h"

#define DIGEST_PREFIX "sha256:"
#define CLOCK_SLACK_US ((uint64_t)60 * 1000000)

/* clang-format off */
static const struct approval_store_shape request_shape[] = {
	{ "schema_version", JDOC_INT,    false },
	{ "digest",         JDOC_STRING, false },
	{ "lane",           JDOC_STRING, false },
	{ "ledger",         JDOC_STRING, true  },
	{ "level",          JDOC_STRING, false },
	{ "state",          JDOC_STRING, false },
	{ "command",        JDOC_STRING, false },
	{ "agent",          JDOC_STRING, true  },
	{ "worker",         JDOC_STRING, true  },
	{ "profile",        JDOC_STRING, true  },
	{ "alike",          JDOC_STRING, true  },
	{ "subject",        JDOC_OBJECT, true  },
	{ "verdict",        JDOC_OBJECT, true  },
	{ "standing",       JDOC_OBJECT, true  },
	{ "askers",         JDOC_ARRAY,  false },
	{ "approvals",      JDOC_ARRAY,  false },
	{ "needed",         JDOC_INT,    false },
	{ "only",           JDOC_ARRAY,  true  },
	{ "no_self",        JDOC_BOOL,   true  },
	{ "count",          JDOC_INT,    false },
	{ "created",        JDOC_OBJECT, false },
	{ "expires_us",     JDOC_INT,    false },
	{ "denied",         JDOC_OBJECT, true  },
	{ 0 },
};
static const struct approval_store_shape denied_shape[] = {
	{ "by",     JDOC_STRING, false },
	{ "reason", JDOC_STRING, true  },
	{ "at_us",  JDOC_INT,    false },
	{ 0 },
};
/* clang-format on */

void request_done(struct request *r)
{
	free(r->ledger);
	free(r->command);
	free(r->agent);
	free(r->worker);
	free(r->profile);
	free(r->alike);
	jdoc_free(r->subject);
	jdoc_free(r->verdict);
	jdoc_free(r->standing);
	strv_free(r->askers);
	strv_free(r->approvals);
	strv_free(r->only);
	free(r->denied_by);
	free(r->denied_reason);
	*r = (struct request){ 0 };
}

void request_list_done(struct request_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		request_done(&l->items[i]);
	free(l->items);
	*l = (struct request_list){ 0 };
}

char *request_asker_text(uid_t uid, const char *user)
{
	char *text = NULL;

	return asprintf(&text, "%u:%s", (unsigned int)uid, user ? user : "") < 0 ? NULL : text;
}

bool request_asker_is(const char *asker, uid_t uid, const char *name)
{
	bool carried = asker[0] == REQUEST_ASKER_IMPORTED;
	size_t digits;
	char number[16];

	asker += carried;
	digits = strspn(asker, "0123456789");
	(void)snprintf(number, sizeof(number), "%u", (unsigned int)uid);
	if (!carried && uid != APPROVER_NO_UID && strlen(number) == digits &&
	    memcmp(asker, number, digits) == 0)
		return true;
	return name && *name && asker[digits] == ':' && str_eq(asker + digits + 1, name);
}

void request_id(const struct digest *digest, char id[REQUEST_ID_SIZE])
{
	digest_hex(digest->bytes, (REQUEST_ID_SIZE - 1) / 2, id);
}

void request_file_name(const char *id, char name[REQUEST_FILE_SIZE])
{
	(void)snprintf(name, REQUEST_FILE_SIZE, "%.16s.json", id);
}

bool request_is_over(const struct request *r, const struct moment *now)
{
	uint64_t life_us = r->expires_us - r->created.wall_us;

	if (now->wall_us >= r->expires_us || now->wall_us + CLOCK_SLACK_US < r->created.wall_us)
		return true;
	return str_eq(now->boot, r->created.boot) && now->boot_ns > r->created.boot_ns &&
	       (now->boot_ns - r->created.boot_ns) / 1000 >= life_us;
}

/* NULL stays NULL. */
static bool copy(const char *text, char **ret)
{
	if (!text)
		return true;
	*ret = strdup(text);
	return *ret != NULL;
}

static bool copy_doc(const struct jdoc *doc, struct jdoc **ret)
{
	if (!doc)
		return true;
	*ret = jdoc_copy(doc);
	return *ret && !(*ret)->broken;
}

static int take_words(const struct jdoc *array, size_t max, char ***ret, const char *label, struct fault *f)
{
	_cleanup_strv_ char **v = calloc(1, sizeof(*v));

	if (!v)
		return fault_errno(f, ENOMEM, "%s", label);
	if (array->n_items > max)
		return fault_set(f, EINVAL, "%s: more than %zu names", label, max);
	for (size_t i = 0; i < array->n_items; i++) {
		if (array->items[i]->type != JDOC_STRING)
			return fault_set(f, EINVAL, "%s: a name is not a string", label);
		if (strv_append(&v, array->items[i]->string) < 0)
			return fault_errno(f, ENOMEM, "%s", label);
	}
	*ret = TAKE_PTR(v);
	return 0;
}

static int take_denied(const struct jdoc *denied, struct request *r, const char *label, struct fault *f)
{
	int ret;

	if ((denied != NULL) != (r->state == REQUEST_DENIED))
		return fault_set(f, EINVAL, "%s: 'state' and 'denied' contradict each other", label);
	if (!denied)
		return 0;
	ret = approval_store_require_shape(denied, denied_shape, label, f);
	if (ret < 0)
		return ret;
	if (!copy(jdoc_get_string(denied, "by"), &r->denied_by) ||
	    !copy(jdoc_get_string(denied, "reason"), &r->denied_reason))
		return fault_errno(f, ENOMEM, "%s", label);
	r->denied_us = (uint64_t)approval_store_get_int(denied, "at_us");
	return 0;
}

static int take_numbers(const struct jdoc *doc, struct request *r, const char *label, struct fault *f)
{
	const char *digest = jdoc_get_string(doc, "digest"), *lane = jdoc_get_string(doc, "lane");
	const char *level = jdoc_get_string(doc, "level"), *state = jdoc_get_string(doc, "state");
	int64_t count = approval_store_get_int(doc, "count"),
		expires = approval_store_get_int(doc, "expires_us");
	int64_t needed = approval_store_get_int(doc, "needed");
	const struct jdoc *self = jdoc_get(doc, "no_self");

	if (approval_store_get_int(doc, "schema_version") != 1)
		return fault_set(f, EINVAL, "%s: schema_version is not 1", label);
	if (!str_starts(digest, DIGEST_PREFIX) ||
	    digest_from_hex(digest + strlen(DIGEST_PREFIX), &r->digest) < 0)
		return fault_set(f, EINVAL, "%s: 'digest' is not \"sha256:\" and 64 hex digits", label);
	if (!*lane || strlen(lane) >= sizeof(r->lane))
		return fault_set(f, EINVAL, "%s: '%s' is not a lane", label, lane);
	if (!str_eq(level, "B") && !str_eq(level, "C"))
		return fault_set(f, EINVAL, "%s: 'level' is neither B nor C", label);
	if (!str_eq(state, "open") && !str_eq(state, "denied"))
		return fault_set(f, EINVAL, "%s: 'state' is neither open nor denied", label);
	if (approval_store_get_moment(jdoc_get(doc, "created"), &r->created) < 0 || count < 1 || needed < 1 ||
	    needed > UINT16_MAX || expires < (int64_t)r->created.wall_us)
		return fault_set(f, EINVAL, "%s: a time or count is out of range", label);
	request_id(&r->digest, r->id);
	memcpy(r->lane, lane, strlen(lane) + 1);
	r->level = level[0];
	r->state = str_eq(state, "denied") ? REQUEST_DENIED : REQUEST_OPEN;
	r->count = (uint64_t)count;
	r->needed = (unsigned int)needed;
	r->no_self = self && self->boolean;
	r->expires_us = (uint64_t)expires;
	return 0;
}

/* The displayed document must be the one under the digest, which is approved. */
static int require_subject(const struct request *r, const char *label, struct fault *f)
{
	struct digest d;
	int ret;

	if (!r->subject)
		return 0;
	ret = subject_digest(r->subject, &d, f);
	if (ret < 0)
		return fault_wrap(f, ret, "%s", label);
	return digest_equal(&d, &r->digest)
		       ? 0
		       : fault_set(f, EBADMSG, "%s: its subject has another digest: the file was edited",
				   label);
}

int request_parse(const char *text, size_t len, const char *label, struct request *ret, struct fault *f)
{
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	int r;

	r = jdoc_parse(text, len, label, NULL, &doc, f);
	if (r == 0)
		r = approval_store_require_shape(doc, request_shape, label, f);
	if (r == 0)
		r = take_numbers(doc, &rq, label, f);
	if (r == 0)
		r = take_words(jdoc_get(doc, "askers"), REQUEST_ASKERS_MAX, &rq.askers, label, f);
	if (r == 0)
		r = take_words(jdoc_get(doc, "approvals"), 64, &rq.approvals, label, f);
	if (r == 0 && jdoc_get(doc, "only"))
		r = take_words(jdoc_get(doc, "only"), 64, &rq.only, label, f);
	if (r == 0)
		r = take_denied(jdoc_get(doc, "denied"), &rq, label, f);
	if (r < 0)
		return r;
	if (jdoc_get_string(doc, "ledger") && !approval_store_is_ledger_key(jdoc_get_string(doc, "ledger")))
		return fault_set(f, EINVAL, "%s: 'ledger' is not the public key of a ledger", label);
	if (!copy(jdoc_get_string(doc, "command"), &rq.command) ||
	    !copy(jdoc_get_string(doc, "ledger"), &rq.ledger) ||
	    !copy(jdoc_get_string(doc, "agent"), &rq.agent) ||
	    !copy(jdoc_get_string(doc, "worker"), &rq.worker) ||
	    !copy(jdoc_get_string(doc, "profile"), &rq.profile) ||
	    !copy(jdoc_get_string(doc, "alike"), &rq.alike) ||
	    !copy_doc(jdoc_get(doc, "subject"), &rq.subject) ||
	    !copy_doc(jdoc_get(doc, "verdict"), &rq.verdict) ||
	    !copy_doc(jdoc_get(doc, "standing"), &rq.standing))
		return fault_errno(f, ENOMEM, "%s", label);
	r = require_subject(&rq, label, f);
	if (r < 0)
		return r;
	*ret = rq;
	rq = (struct request){ 0 };
	return 0;
}

static void put(struct jdoc *doc, const char *key, const char *text)
{
	if (text)
		jdoc_set_string(doc, key, text);
}

static void put_words(struct jdoc *doc, const char *key, char *const *words)
{
	struct jdoc *array = jdoc_set_array(doc, key);

	for (; words && *words; words++)
		jdoc_append_string(array, *words);
}

static struct jdoc *to_json(const struct request *r)
{
	struct jdoc *doc = jdoc_new_object(), *denied;
	char digest[sizeof(DIGEST_PREFIX) + DIGEST_HEX_SIZE] = DIGEST_PREFIX, level[2] = { r->level, '\0' };

	digest_to_hex(&r->digest, digest + strlen(DIGEST_PREFIX));
	jdoc_set_int(doc, "schema_version", 1);
	jdoc_set_string(doc, "digest", digest);
	jdoc_set_string(doc, "lane", r->lane);
	jdoc_set_string(doc, "level", level);
	jdoc_set_string(doc, "state", r->state == REQUEST_DENIED ? "denied" : "open");
	jdoc_set_string(doc, "command", r->command);
	put(doc, "ledger", r->ledger);
	put(doc, "agent", r->agent);
	put(doc, "worker", r->worker);
	put(doc, "profile", r->profile);
	put(doc, "alike", r->alike);
	if (r->subject)
		jdoc_set(doc, "subject", jdoc_copy(r->subject));
	if (r->verdict)
		jdoc_set(doc, "verdict", jdoc_copy(r->verdict));
	if (r->standing)
		jdoc_set(doc, "standing", jdoc_copy(r->standing));
	put_words(doc, "askers", r->askers);
	put_words(doc, "approvals", r->approvals);
	jdoc_set_int(doc, "needed", r->needed);
	if (r->no_self)
		jdoc_set_bool(doc, "no_self", true);
	if (r->only && r->only[0])
		put_words(doc, "only", r->only);
	jdoc_set_int(doc, "count", (int64_t)r->count);
	approval_store_put_moment(&r->created, jdoc_set_object(doc, "created"));
	jdoc_set_int(doc, "expires_us", (int64_t)r->expires_us);
	if (r->state == REQUEST_DENIED) {
		denied = jdoc_set_object(doc, "denied");
		put(denied, "by", r->denied_by);
		put(denied, "reason", r->denied_reason);
		jdoc_set_int(denied, "at_us", (int64_t)r->denied_us);
	}
	return doc;
}

int request_write(const struct request *r, struct strbuf *out, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = to_json(r);
	int ret = jdoc_write(doc, JDOC_CANONICAL, out, f);

	strbuf_putc(out, '\n');
	return ret == 0 && out->broken ? fault_errno(f, ENOMEM, "request") : ret;
}

int request_load(int dirfd, const char *id, struct request *ret, struct fault *f)
{
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_free_ char *text = NULL;
	char name[REQUEST_FILE_SIZE], label[64];
	size_t len;
	int r;

	request_file_name(id, name);
	(void)snprintf(label, sizeof(label), "request '%.16s'", id);
	r = approval_store_read(dirfd, name, label, &text, &len, f);
	if (r == 0)
		r = request_parse(text, len, label, &rq, f);
	if (r < 0)
		return r;
	if (!str_eq(rq.id, id))
		return fault_set(f, EBADMSG,
				 "%s: its digest does not match its id; 'custody deny %.16s' removes it",
				 label, id);
	*ret = rq;
	rq = (struct request){ 0 };
	return 0;
}

int request_store(int dirfd, const struct request *r, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	char name[REQUEST_FILE_SIZE];
	int ret;

	ret = request_write(r, &b, f);
	if (ret < 0)
		return ret;
	if (b.len > APPROVAL_STORE_FILE_MAX)
		return fault_set(f, EFBIG, "request '%s' would exceed %zu bytes", r->id,
				 APPROVAL_STORE_FILE_MAX);
	request_file_name(r->id, name);
	return fd_replace_file(dirfd, name, b.text, b.len, 0600, f);
}
