/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "approval/grant-impl.h"
#include "approval/standing.h"

/*
 * {"signature":"<128 hex>","statement":{...}}\n in canonical form only, so that a grant has one encoding.
 * The signature covers the domain and the statement.
 */
#define DOMAIN "custody.grant/1\n"
#define KIND "custody.grant"
#define DIGEST_PREFIX "sha256:"
#define USES_MAX 1000000

/* clang-format off */
static const struct approval_store_shape file_shape[] = {
	{ "signature", JDOC_STRING, false },
	{ "statement", JDOC_OBJECT, false },
	{ 0 },
};
static const struct approval_store_shape statement_shape[] = {
	{ "schema_version", JDOC_INT,    false },
	{ "kind",           JDOC_STRING, false },
	{ "digest",         JDOC_STRING, false },
	{ "lane",           JDOC_STRING, false },
	{ "level",          JDOC_STRING, false },
	{ "uses",           JDOC_INT,    false },
	{ "decided_at_us",  JDOC_INT,    false },
	{ "not_after_us",   JDOC_INT,    false },
	{ "boot",           JDOC_STRING, false },
	{ "boottime_ns",    JDOC_INT,    false },
	{ "approver",       JDOC_STRING, false },
	{ "key_id",         JDOC_STRING, false },
	{ "uid",            JDOC_INT,    false },
	{ "askers",         JDOC_ARRAY,  false },
	{ "nonce",          JDOC_STRING, false },
	{ "reason",         JDOC_STRING, false },
	{ "ledgers",        JDOC_ARRAY,  true  },
	{ "fleet",          JDOC_STRING, true  },
	{ "standing",       JDOC_OBJECT, true  },
	{ 0 },
};
/* clang-format on */

void grant_done(struct grant *g)
{
	strv_free(g->askers);
	strv_free(g->ledgers);
	free(g->reason);
	jdoc_free(g->standing);
	free(g->text);
	*g = (struct grant){ 0 };
}

static struct jdoc *statement(const struct grant *g)
{
	struct jdoc *s = jdoc_new_object(), *askers = jdoc_set_array(s, "askers");
	char digest[sizeof(DIGEST_PREFIX) + DIGEST_HEX_SIZE] = DIGEST_PREFIX, level[2] = { g->level, '\0' };

	digest_to_hex(&g->digest, digest + strlen(DIGEST_PREFIX));
	jdoc_set_int(s, "schema_version", 1);
	jdoc_set_string(s, "kind", KIND);
	jdoc_set_string(s, "digest", digest);
	jdoc_set_string(s, "lane", g->lane);
	jdoc_set_string(s, "level", level);
	jdoc_set_int(s, "uses", (int64_t)g->uses);
	jdoc_set_int(s, "decided_at_us", (int64_t)g->decided.wall_us);
	jdoc_set_int(s, "not_after_us", (int64_t)g->not_after_us);
	jdoc_set_string(s, "boot", g->decided.boot);
	jdoc_set_int(s, "boottime_ns", (int64_t)g->decided.boot_ns);
	jdoc_set_string(s, "approver", g->approver);
	jdoc_set_string(s, "key_id", g->key_id);
	jdoc_set_int(s, "uid", g->uid);
	for (char **a = g->askers; a && *a; a++)
		jdoc_append_string(askers, *a);
	jdoc_set_string(s, "nonce", g->nonce);
	jdoc_set_string(s, "reason", g->reason ? g->reason : "");
	if (g->standing)
		jdoc_set(s, "standing", jdoc_copy(g->standing));
	if (g->fleet[0])
		jdoc_set_string(s, "fleet", g->fleet);
	if (g->ledgers && g->ledgers[0]) {
		struct jdoc *ledgers = jdoc_set_array(s, "ledgers");

		for (char **k = g->ledgers; *k; k++)
			jdoc_append_string(ledgers, *k);
	}
	return s;
}

static int put_signed_bytes(const struct grant *g, struct strbuf *out, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *s = statement(g);

	strbuf_puts(out, DOMAIN);
	return jdoc_write(s, JDOC_CANONICAL, out, f);
}

static void name_it(struct grant *g, const struct strbuf *bytes)
{
	digest_bytes(bytes->text, bytes->len, &g->statement);
	digest_hex(g->statement.bytes, (GRANT_ID_SIZE - 1) / 2, g->id);
}

static int write_file(struct grant *g, const char *signature, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf b = { 0 };
	int r;

	jdoc_set_string(doc, "signature", signature);
	jdoc_set(doc, "statement", statement(g));
	r = jdoc_write(doc, JDOC_CANONICAL, &b, f);
	if (r < 0)
		return r;
	free(g->text);
	g->text = strbuf_take(&b);
	return g->text ? 0 : fault_errno(f, ENOMEM, "grant");
}

int grant_seal(struct grant *g, const struct sign_secret *key, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	uint8_t signature[SIGN_SIZE];
	char hex[2 * SIGN_SIZE + 1];
	int r;

	r = put_signed_bytes(g, &b, f);
	if (r < 0)
		return r;
	name_it(g, &b);
	sign_bytes(key, b.text, b.len, signature);
	digest_hex(signature, sizeof(signature), hex);
	return write_file(g, hex, f);
}

bool grant_signature_verify(const struct grant *g, const struct sign_public *key)
{
	static const char begin[] = "{\"signature\":\"";
	_cleanup_strbuf_ struct strbuf b = { 0 };
	uint8_t signature[SIGN_SIZE];
	char hex[2 * SIGN_SIZE + 1];

	/* Canonical, as parsed or as written: the signature is at a fixed offset. */
	if (!g->text || !str_starts(g->text, begin) || strlen(g->text) < sizeof(begin) - 1 + 2 * SIGN_SIZE)
		return false;
	memcpy(hex, g->text + sizeof(begin) - 1, 2 * SIGN_SIZE);
	hex[2 * SIGN_SIZE] = '\0';
	return approver_bytes_from_hex(hex, signature, sizeof(signature)) &&
	       put_signed_bytes(g, &b, NULL) == 0 && !b.broken && sign_verify(key, b.text, b.len, signature);
}

static bool is_hex(const char *text, size_t len)
{
	return strlen(text) == len && strspn(text, "0123456789abcdef") == len;
}

static int take_texts(const struct jdoc *s, struct grant *g, const char *label, struct fault *f)
{
	const char *digest = jdoc_get_string(s, "digest"), *lane = jdoc_get_string(s, "lane");
	const char *level = jdoc_get_string(s, "level"), *boot = jdoc_get_string(s, "boot");
	const char *name = jdoc_get_string(s, "approver"), *key_id = jdoc_get_string(s, "key_id");
	const char *nonce = jdoc_get_string(s, "nonce"), *reason = jdoc_get_string(s, "reason");

	if (!str_eq(jdoc_get_string(s, "kind"), KIND))
		return fault_set(f, EINVAL, "%s: 'kind' is not '%s'", label, KIND);
	if (!str_starts(digest, DIGEST_PREFIX) ||
	    digest_from_hex(digest + strlen(DIGEST_PREFIX), &g->digest) < 0)
		return fault_set(f, EINVAL, "%s: 'digest' is not \"sha256:\" and 64 hex digits", label);
	if (!*lane || strlen(lane) >= sizeof(g->lane))
		return fault_set(f, EINVAL, "%s: '%s' is not a lane", label, lane);
	if (!str_eq(level, "B") && !str_eq(level, "C"))
		return fault_set(f, EINVAL, "%s: 'level' is neither B nor C", label);
	if (!approval_store_is_boot_id(boot) || !is_hex(key_id, APPROVER_KEY_ID_SIZE - 1) ||
	    !is_hex(nonce, sizeof(g->nonce) - 1))
		return fault_set(f, EINVAL, "%s: 'boot', 'key_id' or 'nonce' is not hex of its length",
				 label);
	if (approver_require_name(name, NULL) < 0)
		return fault_set(f, EINVAL, "%s: 'approver' is not a valid name", label);
	if (strlen(reason) > GRANT_REASON_MAX)
		return fault_set(f, EINVAL, "%s: 'reason' exceeds %d bytes", label, GRANT_REASON_MAX);
	memcpy(g->lane, lane, strlen(lane) + 1);
	memcpy(g->decided.boot, boot, sizeof(g->decided.boot));
	memcpy(g->approver, name, strlen(name) + 1);
	memcpy(g->key_id, key_id, sizeof(g->key_id));
	memcpy(g->nonce, nonce, sizeof(g->nonce));
	g->level = level[0];
	g->reason = strdup(reason);
	return g->reason ? 0 : fault_errno(f, ENOMEM, "%s", label);
}

static int take_numbers(const struct jdoc *s, struct grant *g, const char *label, struct fault *f)
{
	int64_t uses = approval_store_get_int(s, "uses"),
		decided = approval_store_get_int(s, "decided_at_us");
	int64_t not_after = approval_store_get_int(s, "not_after_us"),
		boot_ns = approval_store_get_int(s, "boottime_ns");
	int64_t uid = approval_store_get_int(s, "uid");

	if (approval_store_get_int(s, "schema_version") != 1)
		return fault_set(f, EINVAL, "%s: schema_version is not 1", label);
	if (uses < 1 || uses > USES_MAX || decided < 0 || not_after <= decided || boot_ns < 0 || uid < 0 ||
	    uid > UINT32_MAX)
		return fault_set(f, EINVAL, "%s: a number is out of range", label);
	g->uses = (uint64_t)uses;
	g->decided.wall_us = (uint64_t)decided;
	g->decided.boot_ns = (uint64_t)boot_ns;
	g->not_after_us = (uint64_t)not_after;
	g->uid = (uid_t)uid;
	return 0;
}

static int take_askers(const struct jdoc *array, struct grant *g, const char *label, struct fault *f)
{
	g->askers = calloc(1, sizeof(*g->askers));
	if (!g->askers)
		return fault_errno(f, ENOMEM, "%s", label);
	if (array->n_items > REQUEST_ASKERS_MAX)
		return fault_set(f, EINVAL, "%s: more than %d askers", label, REQUEST_ASKERS_MAX);
	for (size_t i = 0; i < array->n_items; i++) {
		if (array->items[i]->type != JDOC_STRING)
			return fault_set(f, EINVAL, "%s: an asker is not a string", label);
		if (strv_append(&g->askers, array->items[i]->string) < 0)
			return fault_errno(f, ENOMEM, "%s", label);
	}
	return 0;
}

static bool is_fleet_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
	size_t len = strlen(name);

	return len > 0 && len < GRANT_FLEET_SIZE && strspn(name, allowed) == len && !strchr("._-", name[0]);
}

/* One ledger, or a fleet with its name; a statement of an older version has neither. */
static int take_ledgers(const struct jdoc *s, struct grant *g, const char *label, struct fault *f)
{
	const struct jdoc *list = jdoc_get(s, "ledgers");
	const char *fleet = jdoc_get_string(s, "fleet");

	g->ledgers = calloc(1, sizeof(*g->ledgers));
	if (!g->ledgers)
		return fault_errno(f, ENOMEM, "%s", label);
	if (!list && !fleet)
		return 0;
	if (!list || list->n_items == 0 || list->n_items > APPROVAL_LEDGERS_MAX ||
	    (list->n_items > 1 && !fleet) || (fleet && !is_fleet_name(fleet)))
		return fault_set(f, EINVAL, "%s: 'ledgers' is neither one ledger nor a fleet", label);
	for (size_t i = 0; i < list->n_items; i++) {
		if (list->items[i]->type != JDOC_STRING ||
		    !approval_store_is_ledger_key(list->items[i]->string))
			return fault_set(f, EINVAL, "%s: 'ledgers' has an item that is no ledger's key",
					 label);
		if (strv_append(&g->ledgers, list->items[i]->string) < 0)
			return fault_errno(f, ENOMEM, "%s", label);
	}
	if (fleet)
		memcpy(g->fleet, fleet, strlen(fleet) + 1);
	return 0;
}

/* A standing approval is for the parts under its digest, with the PIN, on one ledger. */
static int take_standing(const struct jdoc *s, struct grant *g, const char *label, struct fault *f)
{
	const struct jdoc *parts = jdoc_get(s, "standing");
	struct digest digest;
	int r;

	if (!parts)
		return 0;
	r = standing_require(parts, label, f);
	if (r == 0)
		r = standing_digest(parts, &digest, f);
	if (r < 0)
		return r;
	if (!digest_equal(&digest, &g->digest) || g->level != 'C' || g->fleet[0])
		return fault_set(f, EINVAL,
				 "%s: 'standing' is not under the digest, with the PIN and for one ledger",
				 label);
	g->standing = jdoc_copy(parts);
	return g->standing && !g->standing->broken ? 0 : fault_errno(f, ENOMEM, "%s", label);
}

static int take(const struct jdoc *doc, const char *text, size_t len, struct grant *g, const char *label,
		struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	const char *signature = jdoc_get_string(doc, "signature");
	const struct jdoc *s = jdoc_get(doc, "statement");
	int r;

	if (!is_hex(signature, 2 * SIGN_SIZE))
		return fault_set(f, EINVAL, "%s: 'signature' is not 128 hex digits", label);
	r = approval_store_require_shape(s, statement_shape, label, f);
	if (r == 0)
		r = take_numbers(s, g, label, f);
	if (r == 0)
		r = take_texts(s, g, label, f);
	if (r == 0)
		r = take_askers(jdoc_get(s, "askers"), g, label, f);
	if (r == 0)
		r = take_ledgers(s, g, label, f);
	if (r == 0)
		r = take_standing(s, g, label, f);
	if (r == 0)
		r = put_signed_bytes(g, &b, f);
	if (r < 0)
		return r;
	name_it(g, &b);
	r = write_file(g, signature, f);
	if (r == 0 && (strlen(g->text) != len || memcmp(g->text, text, len) != 0))
		r = fault_set(f, EINVAL, "%s: not in the canonical form of a grant", label);
	return r;
}

int grant_parse(const char *text, size_t len, const char *label, struct grant *ret, struct fault *f)
{
	static const struct jdoc_limits limits = { .size_max = GRANT_TEXT_MAX, .depth_max = 6 };
	_cleanup_grant_ struct grant g = { 0 };
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	int r;

	if (len > 0 && text[len - 1] == '\n')
		len--;
	r = jdoc_parse(text, len, label, &limits, &doc, f);
	if (r == 0)
		r = approval_store_require_shape(doc, file_shape, label, f);
	if (r == 0)
		r = take(doc, text, len, &g, label, f);
	if (r < 0)
		return r;
	*ret = g;
	g = (struct grant){ 0 };
	return 0;
}
