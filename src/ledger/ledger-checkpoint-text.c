/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <nettle/base64.h>
#include <string.h>

#include "base/digest.h"
#include "base/str.h"
#include "ledger/ledger-checkpoint.h"

#define DASH "\xe2\x80\x94 " /* prefix of a signature line of a signed note */
#define ED25519 1	     /* the signed note's number for the algorithm */

/* Exactly WANT bytes; any other length is refused. */
static bool from_base64(const char *text, size_t len, uint8_t *ret, size_t want)
{
	uint8_t room[128];
	struct base64_decode_ctx ctx;
	size_t n = sizeof(room);

	if (len > BASE64_ENCODE_RAW_LENGTH(96))
		return false;
	base64_decode_init(&ctx);
	if (!base64_decode_update(&ctx, &n, room, len, text) || !base64_decode_final(&ctx) || n != want)
		return false;
	memcpy(ret, room, want);
	return true;
}

static bool read_origin(const char *text, size_t len, char origin[ORIGIN_SIZE])
{
	size_t prefix = sizeof(ORIGIN_PREFIX) - 1;

	if (len != ORIGIN_SIZE - 1 || memcmp(text, ORIGIN_PREFIX, prefix) != 0)
		return false;
	memcpy(origin, text, len);
	origin[len] = '\0';
	return strspn(origin + prefix, "0123456789abcdef") == 32;
}

static void key_id(const char *origin, const struct sign_public *public, uint8_t ret[4])
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	struct digest d;
	uint8_t bytes[ORIGIN_SIZE + 1 + sizeof(*public)];
	size_t len = strlen(origin);

	memcpy(bytes, origin, len);
	bytes[len] = '\n';
	bytes[len + 1] = ED25519;
	memcpy(bytes + len + 2, public, sizeof(*public));
	digest_bytes(bytes, len + 2 + sizeof(*public), &d);
	memcpy(ret, d.bytes, 4);
}

void checkpoint_key_init(const char *origin, const struct sign_public *public, struct checkpoint_key *ret)
{
	size_t len = strnlen(origin, ORIGIN_SIZE - 1);

	memcpy(ret->origin, origin, len);
	ret->origin[len] = '\0';
	ret->public = *public;
	key_id(ret->origin, public, ret->key_id);
}

int checkpoint_key_parse(const char *text, struct checkpoint_key *ret, struct fault *f)
{
	size_t len = strcspn(text, "\r\n");
	const char *plus = memchr(text, '+', len);
	uint8_t bytes[1 + sizeof(ret->public)];
	char hex[9], origin[ORIGIN_SIZE];
	struct sign_public public;

	if (!plus || !read_origin(text, (size_t)(plus - text), origin) || len < (size_t)(plus - text) + 10 ||
	    plus[9] != '+' ||
	    !from_base64(plus + 10, len - (size_t)(plus + 10 - text), bytes, sizeof(bytes)) ||
	    bytes[0] != ED25519)
		return fault_set(f, EINVAL,
				 "not a ledger's public key: 'custody ledger show --key' prints one");
	memcpy(&public, bytes + 1, sizeof(public));
	checkpoint_key_init(origin, &public, ret);
	digest_hex(ret->key_id, sizeof(ret->key_id), hex);
	if (memcmp(hex, plus + 1, 8) != 0)
		return fault_set(f, EINVAL, "the ledger's public key is damaged: its id does not match");
	return 0;
}

char *checkpoint_key_text(const struct checkpoint_key *key)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	uint8_t bytes[1 + sizeof(key->public)] = { ED25519 };
	char hex[9], b64[BASE64_ENCODE_RAW_LENGTH(sizeof(bytes)) + 1] = "";

	memcpy(bytes + 1, &key->public, sizeof(key->public));
	base64_encode_raw(b64, sizeof(bytes), bytes);
	digest_hex(key->key_id, sizeof(key->key_id), hex);
	strbuf_printf(&b, "%s+%s+%s", key->origin, hex, b64);
	return strbuf_take(&b);
}

char *checkpoint_sign(const struct checkpoint_key *key, const struct sign_secret *secret,
		      const struct ledger_mark *mark)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	uint8_t bytes[4 + SIGN_SIZE];
	char b64[BASE64_ENCODE_RAW_LENGTH(sizeof(bytes)) + 1] = "";
	char root[BASE64_ENCODE_RAW_LENGTH(DIGEST_SIZE) + 1] = "";

	base64_encode_raw(root, DIGEST_SIZE, mark->head.bytes);
	strbuf_printf(&b, "%s\n%llu\n%s\n", key->origin, (unsigned long long)mark->size, root);
	if (b.broken)
		return NULL;
	memcpy(bytes, key->key_id, 4);
	sign_bytes(secret, b.text, b.len, bytes + 4);
	base64_encode_raw(b64, sizeof(bytes), bytes);
	strbuf_printf(&b, "\n" DASH "%s %s\n", key->origin, b64);
	return strbuf_take(&b);
}

/* One line of at most LEFT bytes; false if its LF is missing. */
static bool next_line(const char **at, size_t *left, const char **ret, size_t *ret_len)
{
	const char *end = memchr(*at, '\n', *left);

	if (!end)
		return false;
	*ret = *at;
	*ret_len = (size_t)(end - *at);
	*left -= *ret_len + 1;
	*at = end + 1;
	return true;
}

static bool read_size(const char *text, size_t len, uint64_t *ret)
{
	char digits[24];

	if (len == 0 || len >= sizeof(digits) || (text[0] == '0' && len > 1))
		return false;
	memcpy(digits, text, len);
	digits[len] = '\0';
	return str_to_u64(digits, ret) == 0;
}

static bool read_signature(const char *line, size_t len, struct checkpoint *n)
{
	uint8_t bytes[4 + SIGN_SIZE];
	size_t dash = sizeof(DASH) - 1, origin = strlen(n->origin), skip = dash + origin + 1;

	if (len <= skip || memcmp(line, DASH, dash) != 0 || memcmp(line + dash, n->origin, origin) != 0 ||
	    line[skip - 1] != ' ' || !from_base64(line + skip, len - skip, bytes, sizeof(bytes)))
		return false;
	memcpy(n->key_id, bytes, 4);
	memcpy(n->signature, bytes + 4, SIGN_SIZE);
	return true;
}

int checkpoint_parse(const char *text, size_t len, struct checkpoint *ret, size_t *ret_len)
{
	const char *at = text, *line;
	struct checkpoint n = { .text = text };
	size_t left = len, line_len;

	if (!next_line(&at, &left, &line, &line_len))
		return -ENODATA;
	if (!read_origin(line, line_len, n.origin))
		return -EBADMSG;
	if (!next_line(&at, &left, &line, &line_len))
		return -ENODATA;
	if (!read_size(line, line_len, &n.mark.size))
		return -EBADMSG;
	if (!next_line(&at, &left, &line, &line_len))
		return -ENODATA;
	if (!from_base64(line, line_len, n.mark.head.bytes, DIGEST_SIZE))
		return -EBADMSG;
	n.text_len = (size_t)(at - text);
	if (!next_line(&at, &left, &line, &line_len))
		return -ENODATA;
	if (line_len != 0)
		return -EBADMSG;
	if (!next_line(&at, &left, &line, &line_len))
		return -ENODATA;
	if (!read_signature(line, line_len, &n))
		return -EBADMSG;
	*ret = n;
	*ret_len = (size_t)(at - text);
	return 0;
}

bool checkpoint_verify(const struct checkpoint *n, const struct checkpoint_key *key)
{
	return str_eq(n->origin, key->origin) && memcmp(n->key_id, key->key_id, sizeof(n->key_id)) == 0 &&
	       sign_verify(&key->public, n->text, n->text_len, n->signature);
}
