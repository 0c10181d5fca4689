/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mcp/mcp-json.h"

#include <string.h>

/* A reader of one text; C is 0 at its end, and no byte of a valid text is 0. */
struct reader {
	const char *at, *end;
};

static unsigned char peek(const struct reader *r)
{
	return r->at < r->end ? (unsigned char)*r->at : 0;
}

static bool take(struct reader *r, char c)
{
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

/* No line break: it would end the message. */
static void skip_blanks(struct reader *r)
{
	while (peek(r) == ' ' || peek(r) == '\t')
		r->at++;
}

static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(unsigned char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool take_digits(struct reader *r)
{
	if (!is_digit(peek(r)))
		return false;
	while (is_digit(peek(r)))
		r->at++;
	return true;
}

static bool take_number(struct reader *r)
{
	(void)take(r, '-');
	if (!take(r, '0') && !take_digits(r))
		return false;
	if (take(r, '.') && !take_digits(r))
		return false;
	if (take(r, 'e') || take(r, 'E')) {
		if (!take(r, '+'))
			(void)take(r, '-');
		return take_digits(r);
	}
	return true;
}

static bool take_word(struct reader *r, const char *word)
{
	for (; *word; word++)
		if (!take(r, *word))
			return false;
	return true;
}

static bool take_escape(struct reader *r)
{
	if (take(r, 'u')) {
		for (int i = 0; i < 4; i++, r->at++)
			if (!is_hex(peek(r)))
				return false;
		return true;
	}
	if (!peek(r) || !strchr("\"\\/bfnrt", peek(r)))
		return false;
	r->at++;
	return true;
}

/* The bytes behind the first one of a character of more than one byte: shortest form, no surrogates, at most U+10FFFF. */
static bool take_utf8(struct reader *r, unsigned char first)
{
	unsigned char low = 0x80, high = 0xbf;
	int more;

	if (first >= 0xc2 && first <= 0xdf)
		more = 1;
	else if (first >= 0xe0 && first <= 0xef)
		more = 2;
	else if (first >= 0xf0 && first <= 0xf4)
		more = 3;
	else
		return false;
	if (first == 0xe0)
		low = 0xa0;
	if (first == 0xed)
		high = 0x9f;
	if (first == 0xf0)
		low = 0x90;
	if (first == 0xf4)
		high = 0x8f;
	for (; more > 0; more--, low = 0x80, high = 0xbf) {
		if (peek(r) < low || peek(r) > high)
			return false;
		r->at++;
	}
	return true;
}

static bool take_string(struct reader *r)
{
	if (!take(r, '"'))
		return false;
	while (r->at < r->end) {
		const unsigned char c = (unsigned char)*r->at++;

		if (c == '"')
			return true;
		if (c < ' ' || (c == '\\' && !take_escape(r)) || (c >= 0x80 && !take_utf8(r, c)))
			return false;
	}
	return false;
}

static bool take_scalar(struct reader *r)
{
	switch (peek(r)) {
	case '"':
		return take_string(r);
	case 't':
		return take_word(r, "true");
	case 'f':
		return take_word(r, "false");
	case 'n':
		return take_word(r, "null");
	default:
		return take_number(r);
	}
}

/* In an object, before each value. */
static bool take_key(struct reader *r)
{
	skip_blanks(r);
	if (!take_string(r))
		return false;
	skip_blanks(r);
	return take(r, ':');
}

/* Behind a value: closes what ends here.  False: malformed. */
static bool take_ends(struct reader *r, const char *open, size_t *depth)
{
	while (*depth > 0) {
		skip_blanks(r);
		if (take(r, ','))
			return open[*depth - 1] != '}' || take_key(r);
		if (!take(r, open[*depth - 1]))
			return false;
		--*depth;
	}
	return true;
}

bool mcp_json_is_valid(struct mcp_text text)
{
	struct reader r = { text.at, text.at + text.len };
	char open[MCP_DEPTH_MAX]; /* the bracket that closes each level */
	size_t depth = 0;

	for (;;) {
		skip_blanks(&r);
		if (peek(&r) == '{' || peek(&r) == '[') {
			if (depth == MCP_DEPTH_MAX)
				return false;
			open[depth++] = *r.at++ == '{' ? '}' : ']';
			skip_blanks(&r);
			if (peek(&r) != (unsigned char)open[depth - 1]) {
				if (open[depth - 1] == '}' && !take_key(&r))
					return false;
				continue;
			}
			/* Empty: closed by take_ends(). */
		} else if (!take_scalar(&r)) {
			return false;
		}
		if (!take_ends(&r, open, &depth))
			return false;
		if (depth == 0)
			break;
	}
	skip_blanks(&r);
	return r.at == r.end;
}

bool mcp_json_is(struct mcp_text value, char first)
{
	return value.len > 0 && *value.at == first;
}

static void take_nested(struct reader *r)
{
	size_t depth = 0;

	do {
		const unsigned char c = peek(r);

		if (c == '"') {
			(void)take_string(r);
			continue;
		}
		if (c == '{' || c == '[')
			depth++;
		if (c == '}' || c == ']')
			depth--;
		r->at++;
	} while (depth > 0 && r->at < r->end);
}

/* Of a valid text. */
static struct mcp_text take_value(struct reader *r)
{
	const char *begin = r->at;

	if (peek(r) == '{' || peek(r) == '[')
		take_nested(r);
	else if (peek(r) == '"')
		(void)take_string(r);
	else
		while (peek(r) && !strchr(",]} \t", peek(r)))
			r->at++;
	return (struct mcp_text){ begin, (size_t)(r->at - begin) };
}

/* Of an object or array, whose first bracket is OPEN: to the next element.  False: at the end. */
static bool begin_element(struct mcp_text of, char open, size_t *at, struct reader *ret)
{
	if (!mcp_json_is(of, open))
		return false;
	*ret = (struct reader){ of.at + (*at ? *at : 1), of.at + of.len };
	skip_blanks(ret);
	(void)take(ret, ',');
	skip_blanks(ret);
	return peek(ret) && peek(ret) != '}' && peek(ret) != ']';
}

bool mcp_json_member(struct mcp_text object, size_t *at, struct mcp_text *key, struct mcp_text *value)
{
	struct reader r;

	if (!begin_element(object, '{', at, &r))
		return false;
	*key = take_value(&r);
	skip_blanks(&r);
	(void)take(&r, ':');
	skip_blanks(&r);
	*value = take_value(&r);
	*at = (size_t)(r.at - object.at);
	return true;
}

bool mcp_json_item(struct mcp_text array, size_t *at, struct mcp_text *value)
{
	struct reader r;

	if (!begin_element(array, '[', at, &r))
		return false;
	*value = take_value(&r);
	*at = (size_t)(r.at - array.at);
	return true;
}

static unsigned int hex_value(unsigned char c)
{
	return is_digit(c) ? c & 0x0fu : (c & 0x0fu) + 9u;
}

/* One character of a valid string; 0: none that is ASCII. */
static unsigned char take_ascii(struct reader *r)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	unsigned char c = (unsigned char)*r->at++;
	unsigned int code = 0;

	if (c != '\\')
		return c < 0x80 ? c : 0;
	c = (unsigned char)*r->at++;
	if (c != 'u')
		return (unsigned char)to[strchr(from, c) - from];
	for (int i = 0; i < 4; i++)
		code = code * 16 + hex_value((unsigned char)*r->at++);
	return code < 0x80 ? (unsigned char)code : 0;
}

bool mcp_json_string_is(struct mcp_text string, const char *word)
{
	struct reader r;

	if (!mcp_json_is(string, '"') || string.len < 2)
		return false;
	r = (struct reader){ string.at + 1, string.at + string.len - 1 };
	while (r.at < r.end) {
		const unsigned char c = take_ascii(&r);

		if (!c || c != (unsigned char)*word++)
			return false;
	}
	return !*word;
}

int mcp_json_get(struct mcp_text object, const char *key, struct mcp_text *ret)
{
	struct mcp_text name, value;
	int found = 0;

	for (size_t at = 0; mcp_json_member(object, &at, &name, &value);)
		if (mcp_json_string_is(name, key)) {
			if (found++)
				return -1;
			*ret = value;
		}
	return found;
}
