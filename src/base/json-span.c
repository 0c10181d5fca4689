/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json-span.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"

/* All of these return the position after the skipped part, or NULL if the text is incomplete or malformed. */
static const char *skip_string(const char *p, const char *end)
{
	const char *quote = p++;

	while (p < end) {
		const char *escape;

		/* Kept while it is ahead: an image may have an environment of a million backslashes. */
		if (quote < p)
			quote = memchr(p, '"', (size_t)(end - p));
		if (!quote)
			return NULL;
		escape = memchr(p, '\\', (size_t)(quote - p));
		if (!escape)
			return quote + 1;
		p = escape + 2;
	}
	return NULL;
}

/* libcrun's parser allows both kinds of C comments. */
static const char *skip_comment(const char *p, const char *end)
{
	if (end - p < 2 || (p[1] != '*' && p[1] != '/'))
		return NULL;
	if (p[1] == '/') {
		p = memchr(p, '\n', (size_t)(end - p));
		return p ? p + 1 : end;
	}
	for (p += 2; end - p >= 2; p++)
		if (p[0] == '*' && p[1] == '/')
			return p + 2;
	return NULL;
}

static const char *skip_blank(const char *p, const char *end)
{
	static const char blanks[] = "        ";

	while (p && p < end) {
		/* Fast path: half of an indented text is blanks. */
		if (end - p >= 8 && memcmp(p, blanks, 8) == 0)
			p += 8;
		else if (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
			p++;
		else if (*p == '/')
			p = skip_comment(p, end);
		else
			break;
	}
	return p;
}

static bool is_scalar(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'E' || c == '+' || c == '-' ||
	       c == '.';
}

/* One token: a bracket, a string, a comma, a colon, a number or a word. */
static const char *skip_token(const char *p, const char *end)
{
	if (p >= end)
		return NULL;
	switch (*p) {
	case '"':
		return skip_string(p, end);
	case '{':
	case '}':
	case '[':
	case ']':
	case ',':
	case ':':
		return p + 1;
	default:
		break;
	}
	if (!is_scalar(*p))
		return NULL;
	while (p < end && is_scalar(*p))
		p++;
	return p;
}

static const char *skip_value(const char *p, const char *end)
{
	size_t open = 0;

	if (p >= end || strchr("}],:", *p))
		return NULL;
	do {
		if (*p == '{' || *p == '[')
			open++;
		else if (*p == '}' || *p == ']')
			open--;
		p = skip_token(p, end);
		if (!p || open == 0)
			return p;
		p = skip_blank(p, end);
	} while (p && p < end);
	return NULL;
}

int jspan_check(const char *text, size_t len, unsigned int depth)
{
	const char *end = text + len, *p = skip_blank(text, end);
	unsigned int open = 0;

	while (p && p < end) {
		if (*p == '{' || *p == '[')
			open++;
		if (open > depth)
			return -E2BIG;
		if ((*p == '}' || *p == ']') && open-- == 0)
			return -EINVAL;
		p = skip_token(p, end);
		if (p)
			p = skip_blank(p, end);
	}
	return p && open == 0 ? 0 : -EINVAL;
}

int jspan_root(const char *text, size_t len, struct jspan *ret)
{
	const char *end = text + len, *p = skip_blank(text, end), *after;

	if (!p)
		return -EINVAL;
	after = skip_value(p, end);
	if (!after || skip_blank(after, end) != end)
		return -EINVAL;
	*ret = (struct jspan){ .at = p, .len = (size_t)(after - p) };
	return 0;
}

bool jspan_is(struct jspan value, char first)
{
	return value.len > 0 && value.at[0] == first;
}

bool jspan_key_is(struct jspan key, const char *name)
{
	size_t n = strlen(name);

	return key.len == n + 2 && !memcmp(key.at + 1, name, n);
}

/* Moves *P to the next element of an object or array: 1, 0 at its end, -EINVAL. */
static int step(struct jspan whole, const char **at, const char **p)
{
	const char *end = whole.at + whole.len;
	bool first = !*at;

	*p = skip_blank(first ? whole.at + 1 : *at, end);
	if (!*p || *p >= end)
		return -EINVAL;
	if (**p == '}' || **p == ']')
		return 0;
	if (first)
		return 1;
	if (**p != ',')
		return -EINVAL;
	*p = skip_blank(*p + 1, end);
	return *p && *p < end ? 1 : -EINVAL;
}

static int take_value(const char *p, const char *end, const char **at, struct jspan *value)
{
	const char *after = p ? skip_value(p, end) : NULL;

	if (!after)
		return -EINVAL;
	*value = (struct jspan){ .at = p, .len = (size_t)(after - p) };
	*at = after;
	return 1;
}

int jspan_next_member(struct jspan object, const char **at, struct jspan *key, struct jspan *value)
{
	const char *end, *p, *after;
	int r;

	if (!jspan_is(object, '{'))
		return 0;
	end = object.at + object.len;
	r = step(object, at, &p);
	if (r <= 0)
		return r;
	if (*p != '"')
		return -EINVAL;
	after = skip_string(p, end);
	if (!after || memchr(p, '\\', (size_t)(after - p)))
		return -EINVAL;
	*key = (struct jspan){ .at = p, .len = (size_t)(after - p) };
	p = skip_blank(after, end);
	if (!p || p >= end || *p != ':')
		return -EINVAL;
	return take_value(skip_blank(p + 1, end), end, at, value);
}

int jspan_next_item(struct jspan array, const char **at, struct jspan *value)
{
	const char *p;
	int r;

	if (!jspan_is(array, '['))
		return 0;
	r = step(array, at, &p);
	return r <= 0 ? r : take_value(p, array.at + array.len, at, value);
}

int jspan_get_each(struct jspan object, const char *const *keys, size_t n, struct jspan *ret)
{
	struct jspan k, v;
	const char *at = NULL;
	int r;

	memset(ret, 0, n * sizeof(*ret));
	while ((r = jspan_next_member(object, &at, &k, &v)) > 0)
		for (size_t i = 0; i < n; i++) {
			if (!jspan_key_is(k, keys[i]))
				continue;
			if (ret[i].at)
				return -EINVAL;
			ret[i] = v;
		}
	return r;
}

int jspan_get(struct jspan object, const char *key, struct jspan *ret)
{
	struct jspan found;
	int r = jspan_get_each(object, &key, 1, &found);

	if (r < 0 || !found.at)
		return r;
	*ret = found;
	return 1;
}

char *jspan_string(struct jspan value)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;

	if (!jspan_is(value, '"') || jdoc_parse(value.at, value.len, "string", NULL, &d, NULL) < 0)
		return NULL;
	return d->type == JDOC_STRING ? TAKE_PTR(d->string) : NULL;
}

bool jspan_string_is(struct jspan value, const char *text)
{
	_cleanup_free_ char *decoded = NULL;

	if (!jspan_is(value, '"'))
		return false;
	if (!memchr(value.at, '\\', value.len))
		return jspan_key_is(value, text);
	decoded = jspan_string(value);
	return decoded && strcmp(decoded, text) == 0;
}
