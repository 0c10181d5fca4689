/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-record.h"

#include <errno.h>
#include <inttypes.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "ledger/ledger-redact.h"
#include "ledger/ledger-seal.h"

#define NAME_MAX_LEN 128 /* bytes of a session's, agent's or worker's name */
#define CUT_TEXT_MAX 8192

static void put_unicode(struct strbuf *out, uint32_t c)
{
	if (c >= 0x10000) {
		c -= 0x10000;
		strbuf_printf(out, "\\u%04x\\u%04x", 0xd800 + (c >> 10), 0xdc00 + (c & 0x3ff));
	} else {
		strbuf_printf(out, "\\u%04x", c);
	}
}

void record_put_ascii(struct strbuf *out, const char *json, size_t len)
{
	while (len > 0) {
		size_t step = 0;
		uint32_t c;

		while (step < len && (unsigned char)json[step] < 0x7f)
			step++;
		strbuf_add(out, json, step);
		json += step;
		len -= step;
		if (len == 0)
			break;
		step = str_utf8_step(json, len);
		c = (unsigned char)*json;
		if (step > 1)
			c &= 0x7fu >> step;
		for (size_t i = 1; i < step; i++)
			c = c << 6 | ((unsigned char)json[i] & 0x3f);
		put_unicode(out, step > 0 ? c : 0xfffd);
		step = step > 0 ? step : 1;
		json += step;
		len -= step;
	}
}

static void put_name(struct strbuf *out, const char *key, const char *value)
{
	_cleanup_strbuf_ struct strbuf quoted = { 0 };
	_cleanup_free_ char *name = NULL;
	size_t len;

	if (!value)
		return;
	len = strnlen(value, NAME_MAX_LEN);
	while (len > 0 && len == NAME_MAX_LEN && ((unsigned char)value[len] & 0xc0) == 0x80)
		len--; /* not inside a UTF-8 sequence */
	name = strndup(value, len);
	if (!name) {
		out->broken = true;
		return;
	}
	jdoc_quote(&quoted, name);
	if (quoted.broken) {
		out->broken = true;
		return;
	}
	strbuf_printf(out, ",\"%s\":", key);
	record_put_ascii(out, quoted.text, quoted.len);
}

/* Replaces a D that is too long: its length, its digest, and its first bytes. */
static int put_cut(struct strbuf *out, const char *json, size_t len, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *cut = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	_cleanup_free_ char *begin = NULL;
	struct jdoc *what = jdoc_set_object(cut, "cut");
	size_t keep = CUT_TEXT_MAX;
	struct digest d;
	char hex[DIGEST_HEX_SIZE];
	int r;

	while (keep > 0 && ((unsigned char)json[keep] & 0xc0) == 0x80)
		keep--;
	begin = strndup(json, keep);
	digest_bytes(json, len, &d);
	digest_to_hex(&d, hex);
	jdoc_set_int(what, "bytes", (int64_t)len);
	jdoc_set_string(what, "sha256", hex);
	jdoc_set_string(what, "text", begin);
	r = jdoc_write(cut, JDOC_CANONICAL, &text, f);
	if (r < 0)
		return r;
	record_put_ascii(out, text.text, text.len);
	return 0;
}

static int put_d(const struct ledger_event *e, const struct redact *rules, struct strbuf *out,
		 struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *copy = NULL;
	_cleanup_strbuf_ struct strbuf json = { 0 }, ascii = { 0 };
	const struct jdoc *d = e->d;
	int r;

	if (!d) {
		strbuf_puts(out, "{}");
		return 0;
	}
	if (!e->verbatim) {
		copy = jdoc_copy(d);
		redact_document(copy, NULL, rules);
		d = copy;
	}
	r = jdoc_write(d, JDOC_CANONICAL, &json, f);
	if (r < 0)
		return r;
	record_put_ascii(&ascii, json.text, json.len);
	if (ascii.broken)
		return fault_errno(f, ENOMEM, "text of record");
	if (ascii.len > RECORD_BODY_MAX - 6 * 3 * NAME_MAX_LEN - 256)
		return put_cut(out, json.text, json.len, f);
	if (!record_text_is_strict(ascii.text, ascii.len))
		return fault_set(f, EINVAL, "not an object with plain keys");
	strbuf_add(out, ascii.text, ascii.len);
	return 0;
}

static bool is_word(const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-");

	return len > 0 && len <= 64 && text[len] == '\0';
}

int record_body(const struct ledger_event *e, const struct redact *rules, struct strbuf *out, struct fault *f)
{
	const char *status = e->status ? e->status : "ok";
	int r;

	if (!e->kind || !is_word(e->kind) || !is_word(status))
		return fault_set(f, EINVAL,
				 "ledger event '%s' with status '%s': lower case, digits, '.' and '-' only",
				 e->kind ? e->kind : "", status);
	strbuf_printf(out, "\"k\":\"%s\"", e->kind);
	put_name(out, "session", e->session);
	put_name(out, "agent", e->agent);
	put_name(out, "worker", e->worker);
	strbuf_printf(out, ",\"status\":\"%s\",\"d\":", status);
	r = put_d(e, rules, out, f);
	if (r == 0 && out->broken)
		r = fault_errno(f, ENOMEM, "text of record");
	return r < 0 ? fault_wrap(f, r, "ledger event '%s'", e->kind) : 0;
}

size_t record_write(char *room, const struct record_front *front, const char *body, size_t body_len,
		    const struct digest *key, struct digest *ret_head)
{
	char prev[DIGEST_HEX_SIZE], hex[DIGEST_HEX_SIZE], t[CLOCK_TEXT_SIZE];
	struct digest seal;
	size_t len;

	digest_to_hex(&front->prev, prev);
	clock_format(front->wall_us, t);
	len = (size_t)snprintf(room, RECORD_FRONT_MAX,
			       "{\"v\":1,\"seq\":%" PRIu64
			       ",\"prev\":\"%s\",\"t\":\"%s\",\"boot\":\"%.8s\",\"bt\":%" PRIu64 ",",
			       front->seq, prev, t, front->boot, front->boot_ns);
	memcpy(room + len, body, body_len);
	len += body_len;
	if (key) {
		seal_mac(key, room, len, &seal);
		digest_to_hex(&seal, hex);
		memcpy(room + len, ",\"m\":\"", 6);
		memcpy(room + len + 6, hex, 64);
		room[len + 70] = '"';
		len += RECORD_SEAL;
	}
	digest_bytes(room, len, ret_head);
	digest_to_hex(ret_head, hex);
	memcpy(room + len, ",\"h\":\"", 6);
	memcpy(room + len + 6, hex, 64);
	memcpy(room + len + 70, "\"}\n", 3);
	return len + RECORD_SUFFIX;
}

struct jdoc *ledger_text(const char *text)
{
	size_t len = strlen(text);
	_cleanup_free_ char *b64 = NULL;
	struct jdoc *d;

	if (str_is_utf8(text, len))
		return jdoc_new_string(text);
	b64 = calloc(1, BASE64_ENCODE_RAW_LENGTH(len) + 1);
	if (b64)
		base64_encode_raw(b64, len, (const uint8_t *)text);
	d = jdoc_new_object();
	jdoc_set_string(d, "b64", b64);
	return d;
}
