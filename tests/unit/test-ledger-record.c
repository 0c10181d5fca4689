/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "ledger/ledger-record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tap.h"

static const struct record_front front = {
	.seq = 7, .wall_us = 1794798900123456, .boot_ns = 99, .boot = "0123abcd"
};

static size_t line_of(const struct ledger_event *e, const struct digest *key, char line[LEDGER_LINE_MAX])
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_strbuf_ struct strbuf body = { 0 };
	struct digest head;

	if (record_body(e, NULL, &body, &f) < 0) {
		printf("# %s\n", fault_text(&f));
		return 0;
	}
	return record_write(line, &front, body.text, body.len, key, &head);
}

static bool parses(const char *line, size_t len, struct record *ret)
{
	const char *why = "";

	if (record_parse(line, len, ret, &why) == 0)
		return true;
	printf("# %s: %.*s\n", why, (int)(len < 300 ? len : 300), line);
	return false;
}

static void the_line_is_the_one_of_the_design(void)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const struct ledger_event e = {
		.kind = "session.start", .session = "S", .agent = "A", .worker = "W", .d = d
	};
	static const char want[] = "{\"v\":1,\"seq\":7,\"prev\":"
				   "\"0000000000000000000000000000000000000000000000000000000000000000\","
				   "\"t\":\"2026-11-16T03:15:00.123456Z\",\"boot\":\"0123abcd\",\"bt\":99,"
				   "\"k\":\"session.start\","
				   "\"session\":\"S\",\"agent\":\"A\",\"worker\":\"W\",\"status\":\"ok\","
				   "\"d\":{\"n\":1},\"m\":\"";
	char line[LEDGER_LINE_MAX];
	struct digest key = { .bytes = { 1 } }, h;
	char hex[DIGEST_HEX_SIZE];
	size_t len;

	jdoc_set_int(d, "n", 1);
	len = line_of(&e, &key, line);
	CHECK(len == sizeof(want) - 1 + 64 + 1 + 73);
	CHECK(memcmp(line, want, sizeof(want) - 1) == 0);
	CHECK(memcmp(line + len - 73, ",\"h\":\"", 6) == 0 && memcmp(line + len - 3, "\"}\n", 3) == 0);
	digest_bytes(line, len - 73, &h);
	digest_to_hex(&h, hex);
	CHECK(memcmp(line + len - 67, hex, 64) == 0);
	digest_hmac(&key, sizeof(key), line, len - 73 - 71, &h);
	digest_to_hex(&h, hex);
	CHECK(memcmp(line + len - 73 - 65, hex, 64) == 0);
}

static void a_record_is_read_back(void)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const struct ledger_event e = { .kind = "k", .session = "S\"\\\n\x01", .status = "denied", .d = d };
	char line[LEDGER_LINE_MAX];
	struct digest key = { .bytes = { 1 } }, other = { .bytes = { 2 } };
	struct record r;
	uint64_t n;
	size_t len;

	jdoc_set_int(d, "b", 12345678901);
	jdoc_set_string(d, "c", "x");
	jdoc_append_string(jdoc_set_array(d, "a"), "]}\"");
	len = line_of(&e, &key, line);
	CHECK(parses(line, len, &r));
	CHECK(r.seq == 7 && r.boot_ns == 99 && record_kind_is(&r, "k") && span_is(r.status, "denied"));
	CHECK(span_is(r.session, "S\\\"\\\\\\n\\u0001") && !r.agent.at && !r.worker.at);
	CHECK(memcmp(r.boot, "0123abcd", 8) == 0);
	CHECK(record_hash_verify(&r) && record_seal_verify(&r, &key) && !record_seal_verify(&r, &other));
	CHECK(record_get_u64(&r, "b", &n) && n == 12345678901);
	CHECK(span_is(record_get(&r, "c"), "\"x\"") && !record_get(&r, "d").at);
	CHECK(span_is(record_get(&r, "a"), "[\"]}\\\"\"]"));
	len = line_of(&e, NULL, line);
	CHECK(parses(line, len, &r) && !r.seal && record_hash_verify(&r) && !record_seal_verify(&r, &key));
}

static void everything_is_ascii(void)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const struct ledger_event e = { .kind = "k", .agent = "\xc3\xa9\xff", .d = d };
	char line[LEDGER_LINE_MAX];
	struct record r;
	size_t len;

	jdoc_set_string(d, "t", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f");
	len = line_of(&e, NULL, line);
	CHECK(parses(line, len, &r));
	for (size_t i = 0; i + 1 < len; i++)
		CHECK(line[i] >= 0x20 && line[i] < 0x7f);
	CHECK(span_is(record_get(&r, "t"), "\"\\u00e9\\u20ac\\ud83d\\ude00\\u007f\""));
	CHECK(span_is(r.agent, "\\u00e9\\ufffd"));
}

static void bytes_that_are_not_utf8_are_kept_in_base64(void)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const struct ledger_event e = { .kind = "k", .d = d };
	char line[LEDGER_LINE_MAX];
	struct record r;
	size_t len;

	jdoc_set(d, "a", ledger_text("ok"));
	jdoc_set(d, "b", ledger_text("\xff\xfe"));
	jdoc_set(d, "c",
		 ledger_text("a\xff"
			     "bc"));
	len = line_of(&e, NULL, line);
	CHECK(parses(line, len, &r));
	CHECK(span_is(record_get(&r, "a"), "\"ok\""));
	CHECK(span_is(record_get(&r, "b"), "{\"b64\":\"//4=\"}"));
	CHECK(span_is(record_get(&r, "c"), "{\"b64\":\"Yf9iYw==\"}"));
}

static void long_texts_are_cut_and_never_refused(void)
{
	_cleanup_free_ char *text = malloc(200001);
	char line[LEDGER_LINE_MAX];
	static const size_t sizes[] = { 60000, 64000, 65536, 200000 };
	unsigned int cut = 0;

	CHECK(text);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
		const struct ledger_event e = { .kind = "k", .d = d, .verbatim = true };
		struct record r;
		size_t len;

		memset(text, 'x', sizes[i]);
		memcpy(text + 8190, "\xe2\x82\xac", 3); /* a character where the cut would be */
		text[sizes[i]] = '\0';
		jdoc_set_string(d, "t", text);
		len = line_of(&e, NULL, line);
		CHECK(len > 0 && len <= LEDGER_LINE_MAX && parses(line, len, &r));
		cut += record_get(&r, "cut").at != NULL;
	}
	CHECK(cut == 3);
}

/* A line of exactly LEN bytes. */
static void pad_line(char *line, size_t len)
{
	static const char head[] =
		"{\"v\":1,\"seq\":0,\"prev\":"
		"\"0000000000000000000000000000000000000000000000000000000000000000\","
		"\"t\":\"2026-11-16T03:15:00.123456Z\",\"boot\":\"0123abcd\",\"bt\":99,\"k\":\"k\","
		"\"status\":\"ok\",\"d\":{\"x\":\"";
	char hex[DIGEST_HEX_SIZE];
	struct digest h;

	memset(line, 'x', len);
	memcpy(line, head, sizeof(head) - 1);
	memcpy(line + len - 73 - 2, "\"}", 2);
	digest_bytes(line, len - 73, &h);
	digest_to_hex(&h, hex);
	memcpy(line + len - 73, ",\"h\":\"", 6);
	memcpy(line + len - 67, hex, 64);
	memcpy(line + len - 3, "\"}\n", 3);
}

static void a_record_of_64_kib_is_read_and_one_byte_more_is_not(void)
{
	_cleanup_free_ char *line = malloc(LEDGER_LINE_MAX + 1);
	const char *why;
	struct record r;

	CHECK(line);
	pad_line(line, LEDGER_LINE_MAX);
	CHECK(parses(line, LEDGER_LINE_MAX, &r) && record_hash_verify(&r));
	pad_line(line, LEDGER_LINE_MAX + 1);
	CHECK(record_parse(line, LEDGER_LINE_MAX + 1, &r, &why) == -EBADMSG &&
	      strcmp(why, "longer than 64 KiB") == 0);
}

static void d_has_one_spelling_only(void)
{
	static const char *const good[] = {
		"{}",
		"{\"a\":1}",
		"{\"a\":-1,\"b\":[],\"c\":{}}",
		"{\"a\":[1,[2,{\"x\":null}],true,false,\"\\u00e9\"]}",
		"{\"a\":\"\\\"\\\\\\b\\f\\n\\r\\t\"}",
		"{\"\":0}",
		"{\"a\":0,\"aa\":0,\"b\":0}",
		"{\"a\":[[],[[]],{}]}",
	};
	static const char *const bad[] = {
		"",
		"[]",
		"1",
		"{",
		"}",
		"{}}",
		"{} ",
		" {}",
		"{ }",
		"{\"a\": 1}",
		"{\"a\":1,}",
		"{\"a\":1 }",
		"{\"a\":1,\"a\":2}",
		"{\"b\":1,\"a\":2}",
		"{\"aa\":1,\"a\":2}",
		"{\"a\":1.5}",
		"{\"a\":1e3}",
		"{\"a\":01}",
		"{\"a\":-}",
		"{\"a\":+1}",
		"{\"a\":tru}",
		"{\"a\":\"\\/\"}",
		"{\"a\":\"\\u00E9\"}",
		"{\"a\":\"\t\"}",
		"{\"a\":\"\xc3\xa9\"}",
		"{\"a\":\"\x7f\"}",
		"{a:1}",
		"{'a':1}",
		"{\"a\":[1,]}",
		"{\"a\":[1}",
		"{\"a\":]}",
		"{\"a\":}",
		"{\"a\"}",
		"{\"\\u0061\":1}",
		"{\"a\":\"\\x\"}",
		"{\"a\":\"\\u12\"}",
		"{\"a\":\"x}",
		"{\"a\":[,]}",
		"{\"a\":123456789012345678901}",
		"{\"a\":{\"b\":1,\"b\":2}}",
		"{,}",
		"{\"a\":1\"b\":2}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		if (!record_text_is_strict(good[i], strlen(good[i])))
			printf("# refused: %s\n", good[i]);
		CHECK(record_text_is_strict(good[i], strlen(good[i])));
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (record_text_is_strict(bad[i], strlen(bad[i])))
			printf("# taken: %s\n", bad[i]);
		CHECK(!record_text_is_strict(bad[i], strlen(bad[i])));
	}
}

static void depth_is_bounded(void)
{
	char text[512] = "{\"a\":";
	size_t at = 5;

	for (int i = 0; i < 64; i++)
		text[at++] = '[';
	for (int i = 0; i < 64; i++)
		text[at++] = ']';
	text[at++] = '}';
	CHECK(record_text_is_strict(text, at));
	at = 5;
	for (int i = 0; i < 65; i++)
		text[at++] = '[';
	for (int i = 0; i < 65; i++)
		text[at++] = ']';
	text[at++] = '}';
	CHECK(!record_text_is_strict(text, at));
}

static void our_own_mistakes_are_refused(void)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_jdoc_ struct jdoc *odd = jdoc_new_object(), *list = jdoc_new_array();

	jdoc_set_int(odd, "\xc3\xa9", 1);
	CHECK(record_body(&(struct ledger_event){ .kind = "Upper" }, NULL, &b, NULL) == -EINVAL);
	CHECK(record_body(&(struct ledger_event){ .kind = "" }, NULL, &b, NULL) == -EINVAL);
	CHECK(record_body(&(struct ledger_event){ .kind = "k", .status = "a b" }, NULL, &b, NULL) == -EINVAL);
	CHECK(record_body(&(struct ledger_event){ .kind = "k", .d = odd }, NULL, &b, NULL) == -EINVAL);
	CHECK(record_body(&(struct ledger_event){ .kind = "k", .d = list }, NULL, &b, NULL) == -EINVAL);
}

TAP_MAIN(T(the_line_is_the_one_of_the_design), T(a_record_is_read_back), T(everything_is_ascii),
	 T(bytes_that_are_not_utf8_are_kept_in_base64), T(long_texts_are_cut_and_never_refused),
	 T(a_record_of_64_kib_is_read_and_one_byte_more_is_not), T(d_has_one_spelling_only),
	 T(depth_is_bounded), T(our_own_mistakes_are_refused))
