/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "ledger/ledger-record.h"
#include "ledger/ledger-seal.h"

/*
 * Hand-written, one pass, no copy: verify runs it ten million times. A JSON library would accept blanks,
 * floats, other orders and duplicate keys, and each of those lets two readers see different records.
 */
struct parser {
	const char *at, *end;
};

static bool take(struct parser *c, const char *literal, size_t len)
{
	if ((size_t)(c->end - c->at) < len || memcmp(c->at, literal, len) != 0)
		return false;
	c->at += len;
	return true;
}
#define TAKE(c, literal) take(c, literal, sizeof(literal) - 1)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Value of a lower-case hex digit; 0x80: not one.  Looked up without a branch: a line has 256 of them. */
/* clang-format off */
static const uint8_t hex_value[256] = {
#define ROW_BAD 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80
	ROW_BAD, ROW_BAD, ROW_BAD,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	ROW_BAD, ROW_BAD,
	0x80, 10, 11, 12, 13, 14, 15, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	ROW_BAD, ROW_BAD, ROW_BAD, ROW_BAD, ROW_BAD, ROW_BAD, ROW_BAD, ROW_BAD, ROW_BAD,
#undef ROW_BAD
};
/* clang-format on */

static bool take_hex(struct parser *c, size_t n, const char **ret)
{
	uint8_t bad = 0;

	if ((size_t)(c->end - c->at) < n)
		return false;
	for (size_t i = 0; i < n; i++)
		bad |= hex_value[(unsigned char)c->at[i]];
	*ret = c->at;
	c->at += n;
	return bad < 0x80;
}

static bool take_u64(struct parser *c, uint64_t *ret)
{
	const char *start = c->at;
	uint64_t v = 0;

	for (; c->at < c->end && is_digit(*c->at); c->at++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*c->at - '0'), &v))
			return false;
	*ret = v;
	return c->at > start && (*start != '0' || c->at == start + 1);
}

/* 2026-11-16T03:15:00.123456Z */
static bool take_time(struct parser *c, const char **ret)
{
	static const char shape[] = "0000-00-00T00:00:00.000000Z";

	if ((size_t)(c->end - c->at) < sizeof(shape) - 1)
		return false;
	for (size_t i = 0; i < sizeof(shape) - 1; i++)
		if (shape[i] == '0' ? !is_digit(c->at[i]) : c->at[i] != shape[i])
			return false;
	*ret = c->at;
	c->at += sizeof(shape) - 1;
	return true;
}

/* A character that needs no escape in a string. */
static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* After the backslash. Only the shortest escape of a character is accepted. */
static bool take_escape(struct parser *c)
{
	const char *digits;
	char what;

	if (c->at == c->end)
		return false;
	what = *c->at++;
	if (what == 'u')
		return take_hex(c, 4, &digits);
	return what && strchr("\"\\bfnrt", what);
}

/* After the opening quote; RET without quotes. */
static bool take_string(struct parser *c, struct span *ret)
{
	ret->at = c->at;
	for (;;) {
		while (c->at < c->end && is_plain((unsigned char)*c->at))
			c->at++;
		if (c->at == c->end)
			return false;
		if (*c->at == '"')
			break;
		if (*c->at != '\\')
			return false;
		c->at++;
		if (!take_escape(c))
			return false;
	}
	ret->len = (size_t)(c->at - ret->at);
	c->at++;
	return true;
}

static bool take_integer(struct parser *c)
{
	const char *start;

	if (c->at < c->end && *c->at == '-')
		c->at++;
	start = c->at;
	while (c->at < c->end && is_digit(*c->at))
		c->at++;
	return c->at > start && (*start != '0' || c->at == start + 1) && c->at - start <= 20;
}

/* Keys are plain and strictly ascending, so no key is duplicated. */
static bool take_key(struct parser *c, struct span *last)
{
	struct span key;
	size_t common;
	int order;

	if (!TAKE(c, "\"") || !take_string(c, &key) || memchr(key.at, '\\', key.len) || !TAKE(c, ":"))
		return false;
	if (last->at) {
		common = key.len < last->len ? key.len : last->len;
		order = memcmp(last->at, key.at, common);
		if (order > 0 || (order == 0 && last->len >= key.len))
			return false;
	}
	*last = key;
	return true;
}

/* A string, integer or literal. */
static bool take_scalar(struct parser *c)
{
	struct span ignored;

	if (TAKE(c, "\""))
		return take_string(c, &ignored);
	if (TAKE(c, "true") || TAKE(c, "false") || TAKE(c, "null"))
		return true;
	return take_integer(c);
}

struct nest {
	bool object;
	struct span last;
};

/* After a value: closes objects and arrays; false on error, *DEPTH 0 once the outermost is closed. */
static bool take_after(struct parser *c, struct nest *stack, unsigned int *depth)
{
	while (*depth > 0) {
		struct nest *n = &stack[*depth - 1];

		if (TAKE(c, ","))
			return !n->object || take_key(c, &n->last);
		if (!(n->object ? TAKE(c, "}") : TAKE(c, "]")))
			return false;
		--*depth;
	}
	return true;
}

static bool open_nest(struct parser *c, struct nest *n, bool *ret_empty)
{
	n->last = (struct span){ 0 };
	*ret_empty = n->object ? TAKE(c, "}") : TAKE(c, "]");
	return *ret_empty || !n->object || take_key(c, &n->last);
}

static bool take_object(struct parser *c)
{
	struct nest stack[JDOC_DEPTH_MAX + 1];
	unsigned int depth = 0;

	if (c->at == c->end || *c->at != '{')
		return false;
	do {
		bool object = TAKE(c, "{"), empty = true;

		if (object || TAKE(c, "[")) {
			if (depth > JDOC_DEPTH_MAX)
				return false;
			stack[depth].object = object;
			if (!open_nest(c, &stack[depth], &empty))
				return false;
			depth += !empty;
		} else if (!take_scalar(c)) {
			return false;
		}
		if (empty && !take_after(c, stack, &depth))
			return false;
	} while (depth > 0);
	return true;
}

bool record_text_is_strict(const char *text, size_t len)
{
	struct parser c = { text, text + len };

	return take_object(&c) && c.at == c.end;
}

static bool take_named(struct parser *c, const char *opening, size_t len, struct span *ret)
{
	*ret = (struct span){ 0 };
	return !take(c, opening, len) || take_string(c, ret);
}
#define TAKE_NAMED(c, name, ret) take_named(c, ",\"" name "\":\"", sizeof(",\"" name "\":\"") - 1, ret)

static const char *read_front(struct parser *c, struct record *r)
{
	if (!TAKE(c, "{\"v\":1,\"seq\":"))
		return "does not begin like a record";
	if (!take_u64(c, &r->seq) || !TAKE(c, ",\"prev\":\""))
		return "its seq is not a number";
	if (!take_hex(c, 64, &r->prev) || !TAKE(c, "\",\"t\":\""))
		return "its prev is not a hash";
	if (!take_time(c, &r->t) || !TAKE(c, "\",\"boot\":\""))
		return "its time is malformed";
	if (!take_hex(c, 8, &r->boot) || !TAKE(c, "\",\"bt\":"))
		return "its boot id is malformed";
	if (!take_u64(c, &r->boot_ns) || !TAKE(c, ",\"k\":\""))
		return "its boot time is not a number";
	return NULL;
}

static const char *read_body(struct parser *c, struct record *r)
{
	if (!take_string(c, &r->kind) || !TAKE_NAMED(c, "session", &r->session) ||
	    !TAKE_NAMED(c, "agent", &r->agent) || !TAKE_NAMED(c, "worker", &r->worker) ||
	    !TAKE_NAMED(c, "status", &r->status) || !TAKE(c, ",\"d\":"))
		return "unexpected keys";
	r->d.at = c->at;
	if (!take_object(c))
		return "its d is not strict JSON";
	r->d.len = (size_t)(c->at - r->d.at);
	r->seal = NULL;
	if (TAKE(c, ",\"m\":\"") && (!take_hex(c, 64, &r->seal) || !TAKE(c, "\"")))
		return "its seal is not a hash";
	if (!TAKE(c, ",\"h\":\"") || !take_hex(c, 64, &r->head) || !TAKE(c, "\"}\n"))
		return "does not end like a record";
	return c->at == c->end ? NULL : "unexpected bytes after its end";
}

int record_parse(const char *line, size_t len, struct record *ret, const char **ret_why)
{
	struct record r = { .line = line, .len = len };
	struct parser c = { line, line + len };
	const char *why;

	if (len > LEDGER_LINE_MAX) {
		*ret_why = "longer than 64 KiB";
		return -EBADMSG;
	}
	why = read_front(&c, &r);
	if (!why)
		why = read_body(&c, &r);
	if (why) {
		*ret_why = why;
		return -EBADMSG;
	}
	*ret = r;
	return 0;
}

/* HEX is checked to be 64 lower-case digits. */
static void from_hex(const char *hex, struct digest *ret)
{
	for (size_t i = 0; i < DIGEST_SIZE; i++)
		ret->bytes[i] = (uint8_t)(hex_value[(unsigned char)hex[2 * i]] << 4 |
					  hex_value[(unsigned char)hex[2 * i + 1]]);
}

void record_head(const struct record *r, struct digest *ret)
{
	from_hex(r->head, ret);
}

bool record_hash_verify(const struct record *r)
{
	struct digest want, have;

	from_hex(r->head, &want);
	digest_bytes(r->line, r->len - RECORD_SUFFIX, &have);
	return memcmp(&want, &have, sizeof(want)) == 0;
}

bool record_seal_verify(const struct record *r, const struct digest *key)
{
	struct digest want, have;

	if (!r->seal)
		return false;
	from_hex(r->seal, &want);
	seal_mac(key, r->line, r->len - RECORD_SUFFIX - RECORD_SEAL, &have);
	return digest_equal(&want, &have);
}

void record_prev(const struct record *r, struct digest *ret)
{
	from_hex(r->prev, ret);
}

bool record_prev_is(const struct record *r, const struct digest *head)
{
	struct digest prev;

	record_prev(r, &prev);
	return memcmp(&prev, head, sizeof(prev)) == 0;
}

bool span_is(struct span s, const char *text)
{
	size_t len = strlen(text);

	return s.at && s.len == len && memcmp(s.at, text, len) == 0;
}

bool record_kind_is(const struct record *r, const char *kind)
{
	return span_is(r->kind, kind);
}

/* The record has been parsed, so d is strict: only its outer level is parsed here. */
struct span record_get(const struct record *r, const char *key)
{
	struct parser c = { r->d.at + 1, r->d.at + r->d.len };
	struct span name, value = { 0 };

	while (TAKE(&c, "\"") && take_string(&c, &name) && TAKE(&c, ":")) {
		value.at = c.at;
		if (c.at < c.end && *c.at == '[') {
			unsigned int depth = 0;

			do {
				struct span ignored;

				if (TAKE(&c, "\"")) {
					(void)take_string(&c, &ignored);
					continue;
				}
				depth += *c.at == '[' || *c.at == '{';
				depth -= *c.at == ']' || *c.at == '}';
				c.at++;
			} while (depth > 0 && c.at < c.end);
		} else if (c.at < c.end && *c.at == '{') {
			(void)take_object(&c);
		} else {
			(void)take_scalar(&c);
		}
		value.len = (size_t)(c.at - value.at);
		if (span_is(name, key))
			return value;
		if (!TAKE(&c, ","))
			break;
	}
	return (struct span){ 0 };
}

bool record_get_u64(const struct record *r, const char *key, uint64_t *ret)
{
	struct span s = record_get(r, key);
	struct parser c = { s.at, s.at };

	if (!s.at)
		return false;
	c.end += s.len;
	return take_u64(&c, ret) && c.at == c.end;
}
