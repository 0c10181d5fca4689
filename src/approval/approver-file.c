/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "approval/approver-impl.h"

/* clang-format off */
static const struct approval_store_shape key_shape[] = {
	{ "schema_version", JDOC_INT,    false },
	{ "name",           JDOC_STRING, false },
	{ "lane",           JDOC_STRING, false },
	{ "created_us",     JDOC_INT,    false },
	{ "uid",            JDOC_INT,    false },
	{ "key",            JDOC_OBJECT, false },
	{ "pin_key",        JDOC_OBJECT, true  },
	{ 0 },
};
static const struct approval_store_shape plain_shape[] = {
	{ "public", JDOC_STRING, false },
	{ "seed",   JDOC_STRING, false },
	{ 0 },
};
static const struct approval_store_shape box_shape[] = {
	{ "public",  JDOC_STRING, false },
	{ "setting", JDOC_STRING, false },
	{ "nonce",   JDOC_STRING, false },
	{ "box",     JDOC_STRING, false },
	{ 0 },
};
static const struct approval_store_shape public_shape[] = {
	{ "schema_version", JDOC_INT,    false },
	{ "name",           JDOC_STRING, false },
	{ "lane",           JDOC_STRING, false },
	{ "created_us",     JDOC_INT,    false },
	{ "uid",            JDOC_INT,    false },
	{ "key",            JDOC_STRING, false },
	{ "pin_key",        JDOC_STRING, true  },
	{ 0 },
};
/* clang-format on */

bool approver_bytes_from_hex(const char *hex, uint8_t *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	if (strlen(hex) != 2 * len)
		return false;
	for (size_t i = 0; i < 2 * len; i++) {
		const char *at = strchr(digits, hex[i]);
		uint8_t nibble;

		if (!at)
			return false;
		nibble = (uint8_t)(at - digits);
		bytes[i / 2] = i % 2 ? (uint8_t)(bytes[i / 2] | nibble) : (uint8_t)(nibble << 4);
	}
	return true;
}

void approver_key_text(const struct sign_public *key, char text[APPROVER_KEY_SIZE])
{
	memcpy(text, APPROVER_KEY_PREFIX, sizeof(APPROVER_KEY_PREFIX));
	digest_hex(key->bytes, sizeof(key->bytes), text + strlen(APPROVER_KEY_PREFIX));
}

int approver_key_parse(const char *text, struct sign_public *ret, struct fault *f)
{
	const char *hex = str_starts(text, APPROVER_KEY_PREFIX) ? text + strlen(APPROVER_KEY_PREFIX) : text;
	struct sign_public key = { 0 };

	if (!approver_bytes_from_hex(hex, key.bytes, sizeof(key.bytes)))
		return fault_set(f, EINVAL,
				 "a public key is \"" APPROVER_KEY_PREFIX
				 "\" and 64 lower-case hex digits, as 'custody key show' prints it");
	*ret = key;
	return 0;
}

void approver_key_id(const struct sign_public *key, char id[APPROVER_KEY_ID_SIZE])
{
	struct digest d;

	digest_bytes(key->bytes, sizeof(key->bytes), &d);
	digest_hex(d.bytes, (APPROVER_KEY_ID_SIZE - 1) / 2, id);
}

int approver_require_name(const char *name, struct fault *f)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
	size_t len = strlen(name);

	if (len == 0 || len > APPROVER_NAME_MAX || strspn(name, allowed) != len || strchr("._-", name[0]))
		return fault_set(f, EINVAL,
				 "'%s' is not a valid approver name: use lower-case letters, digits, '.', "
				 "'_' and '-', at most %d, with a letter or digit first",
				 name, APPROVER_NAME_MAX);
	return 0;
}

void approver_file_done(struct approver_file *k)
{
	explicit_bzero(k, sizeof(*k));
}

static void file_name(const char *name, char file[APPROVER_FILE_SIZE])
{
	(void)snprintf(file, APPROVER_FILE_SIZE, "%s.json", name);
}

/* First fields of both files. */
static int read_head(const struct jdoc *doc, const char *name, struct approver *a, const char *label,
		     struct fault *f)
{
	const char *lane = jdoc_get_string(doc, "lane"), *inside = jdoc_get_string(doc, "name");
	int64_t uid = approval_store_get_int(doc, "uid"), created = approval_store_get_int(doc, "created_us");

	if (approval_store_get_int(doc, "schema_version") != 1)
		return fault_set(f, EINVAL, "%s: schema_version is not 1", label);
	/* A file under another name would give one person two approvals. */
	if (!str_eq(inside, name))
		return fault_set(f, EINVAL, "%s: contains the key of '%s'", label, inside);
	if (!*lane || strlen(lane) >= sizeof(a->lane) || uid < 0 || uid > UINT32_MAX || created < 0)
		return fault_set(f, EINVAL, "%s: a value is out of range", label);
	memcpy(a->name, name, strlen(name) + 1);
	memcpy(a->lane, lane, strlen(lane) + 1);
	a->uid = (uid_t)uid;
	a->created_us = (uint64_t)created;
	return 0;
}

static void write_head(struct jdoc *doc, const struct approver *a)
{
	jdoc_set_int(doc, "schema_version", 1);
	jdoc_set_string(doc, "name", a->name);
	jdoc_set_string(doc, "lane", a->lane);
	jdoc_set_int(doc, "created_us", (int64_t)a->created_us);
	jdoc_set_int(doc, "uid", a->uid);
}

static int read_plain(struct jdoc *doc, struct approver_file *k, const char *label, struct fault *f)
{
	struct jdoc *plain = jdoc_get(doc, "key"), *seed;
	struct sign_public public;
	uint8_t bytes[32];
	bool ok;
	int r;

	r = approval_store_require_shape(plain, plain_shape, label, f);
	if (r < 0)
		return r;
	seed = jdoc_get(plain, "seed");
	ok = approver_bytes_from_hex(seed->string, bytes, sizeof(bytes));
	explicit_bzero(seed->string, strlen(seed->string));
	if (ok)
		sign_from_seed(bytes, &k->secret);
	explicit_bzero(bytes, sizeof(bytes));
	r = approver_key_parse(jdoc_get_string(plain, "public"), &public, f);
	if (r < 0 || !ok || memcmp(&public, &k->secret.public, sizeof(public)) != 0) {
		if (f)
			fault_done(f);
		return fault_set(f, EBADMSG, "%s: the key is damaged", label);
	}
	k->public.has_key = true;
	k->public.key = public;
	approver_key_id(&public, k->public.key_id);
	return 0;
}

static int read_box(const struct jdoc *box, struct approver_file *k, const char *label, struct fault *f)
{
	const char *setting;
	int r;

	if (!box)
		return 0;
	r = approval_store_require_shape(box, box_shape, label, f);
	if (r < 0)
		return r;
	r = approver_key_parse(jdoc_get_string(box, "public"), &k->public.pin_key, f);
	if (r < 0)
		return fault_wrap(f, r, "%s", label);
	setting = jdoc_get_string(box, "setting");
	if (strlen(setting) >= sizeof(k->setting) || !str_starts(setting, "$y$") ||
	    !approver_bytes_from_hex(jdoc_get_string(box, "nonce"), k->nonce, sizeof(k->nonce)) ||
	    !approver_bytes_from_hex(jdoc_get_string(box, "box"), k->box, sizeof(k->box)))
		return fault_set(f, EBADMSG, "%s: the key behind the PIN is damaged: run 'custody pin set'",
				 label);
	memcpy(k->setting, setting, strlen(setting) + 1);
	k->has_box = k->public.has_pin_key = true;
	approver_key_id(&k->public.pin_key, k->public.pin_key_id);
	return 0;
}

int approver_file_read(int keysfd, const struct approval_store *d, const char *name,
		       struct approver_file *ret, struct fault *f)
{
	_cleanup_approver_file_ struct approver_file k = { 0 };
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	char file[APPROVER_FILE_SIZE], label[64 + APPROVER_NAME_MAX];
	int r;

	(void)snprintf(label, sizeof(label), "private key of '%s'", name);
	file_name(name, file);
	r = approval_store_read_json(keysfd, file, label, &doc, f);
	if (r == 0)
		r = approval_store_require_shape(doc, key_shape, label, f);
	if (r == 0)
		r = read_head(doc, name, &k.public, label, f);
	if (r == 0 && !str_eq(k.public.lane, d->lane))
		r = fault_set(f, EACCES, "%s: belongs to lane '%s', not to '%s'", label, k.public.lane,
			      d->lane);
	if (r == 0)
		r = read_plain(doc, &k, label, f);
	if (r == 0)
		r = read_box(jdoc_get(doc, "pin_key"), &k, label, f);
	if (r == 0)
		*ret = k;
	return r;
}

int approver_file_write(int keysfd, const struct approval_store *d, const struct approver_file *k,
			struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = jdoc_new_object();
	struct jdoc *plain = jdoc_set_object(doc, "key"), *box, *seed;
	char hex[2 * sizeof(k->box) + 1], file[APPROVER_FILE_SIZE];
	int r;

	write_head(doc, &k->public);
	approver_key_text(&k->secret.public, hex);
	jdoc_set_string(plain, "public", hex);
	digest_hex(k->secret.seed, sizeof(k->secret.seed), hex);
	jdoc_set_string(plain, "seed", hex);
	if (k->has_box) {
		box = jdoc_set_object(doc, "pin_key");
		approver_key_text(&k->public.pin_key, hex);
		jdoc_set_string(box, "public", hex);
		jdoc_set_string(box, "setting", k->setting);
		digest_hex(k->nonce, sizeof(k->nonce), hex);
		jdoc_set_string(box, "nonce", hex);
		digest_hex(k->box, sizeof(k->box), hex);
		jdoc_set_string(box, "box", hex);
	}
	file_name(k->public.name, file);
	r = approval_store_write_json(keysfd, file, doc, f);
	seed = jdoc_get(plain, "seed");
	if (seed && seed->type == JDOC_STRING && seed->string)
		explicit_bzero(seed->string, strlen(seed->string));
	explicit_bzero(hex, sizeof(hex));
	return r < 0 ? fault_wrap(f, r, "private key of '%s' in '%s'", k->public.name, d->state) : 0;
}

int approver_publish(const struct approval_store *d, const struct approver *a, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = jdoc_new_object();
	_cleanup_close_ int dirfd = approval_store_open_dir(d, APPROVAL_STORE_APPROVERS, true, f);
	char hex[APPROVER_KEY_SIZE], file[APPROVER_FILE_SIZE];

	if (dirfd < 0)
		return dirfd;
	write_head(doc, a);
	approver_key_text(&a->key, hex);
	jdoc_set_string(doc, "key", hex);
	if (a->has_pin_key) {
		approver_key_text(&a->pin_key, hex);
		jdoc_set_string(doc, "pin_key", hex);
	}
	file_name(a->name, file);
	return approval_store_write_json(dirfd, file, doc, f);
}

int approver_read_public(int dirfd, const char *name, struct approver *ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	struct approver a = { 0 };
	char file[APPROVER_FILE_SIZE], label[64 + APPROVER_NAME_MAX];
	const char *pin;
	int r;

	(void)snprintf(label, sizeof(label), "approver '%s'", name);
	file_name(name, file);
	r = approval_store_read_json(dirfd, file, label, &doc, f);
	if (r == 0)
		r = approval_store_require_shape(doc, public_shape, label, f);
	if (r == 0)
		r = read_head(doc, name, &a, label, f);
	if (r < 0)
		return r;
	r = approver_key_parse(jdoc_get_string(doc, "key"), &a.key, f);
	pin = jdoc_get_string(doc, "pin_key");
	if (r == 0 && pin)
		r = approver_key_parse(pin, &a.pin_key, f);
	if (r < 0)
		return fault_wrap(f, r, "%s", label);
	a.has_key = true;
	a.has_pin_key = pin != NULL;
	approver_key_id(&a.key, a.key_id);
	if (pin)
		approver_key_id(&a.pin_key, a.pin_key_id);
	*ret = a;
	return 0;
}
