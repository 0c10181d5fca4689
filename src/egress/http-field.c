/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/http-field.h"

#include <string.h>

#include "base/array.h"

#define TOKEN_CHARS                  \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789!#$%&'*+-.^_`|~"

static const char *const framing[] = { "host", "content-length", "transfer-encoding" };

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool http_is_token(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!text[i] || !strchr(TOKEN_CHARS, text[i]))
			return false;
	return len > 0;
}

bool http_is_text(const char *text, size_t len, const char *word)
{
	if (strlen(word) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (lower(text[i]) != lower(word[i]))
			return false;
	return true;
}

static bool is_value(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)text[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

const char *http_field_parse(const char *line, size_t len, struct http_field *ret)
{
	const char *colon = len > 0 ? memchr(line, ':', len) : NULL;
	struct http_field f = { .name = line };

	if (len > 0 && is_blank(line[0]))
		return "a folded field line";
	if (!colon)
		return "a field line without ':'";
	f.name_len = (size_t)(colon - line);
	if (!http_is_token(f.name, f.name_len))
		return "a field name with other characters or a blank before ':'";
	f.value = colon + 1;
	f.value_len = len - f.name_len - 1;
	if (!is_value(f.value, f.value_len))
		return "a control character in a field";
	while (f.value_len > 0 && is_blank(f.value[0])) {
		f.value++;
		f.value_len--;
	}
	while (f.value_len > 0 && is_blank(f.value[f.value_len - 1]))
		f.value_len--;
	*ret = f;
	return NULL;
}

bool http_field_is(const struct http_field *f, const char *name)
{
	return http_is_text(f->name, f->name_len, name);
}

bool http_field_is_like(const struct http_field *f, const char *name)
{
	if (strlen(name) != f->name_len)
		return false;
	for (size_t i = 0; i < f->name_len; i++)
		if (lower(f->name[i] == '_' ? '-' : f->name[i]) != name[i])
			return false;
	return true;
}

bool http_field_frames(const struct http_field *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(framing); i++)
		if (http_field_is_like(f, framing[i]))
			return true;
	return false;
}

bool http_field_next(const struct http_field *f, size_t *at, const char **ret, size_t *ret_len)
{
	const char *start = f->value + *at, *comma;
	size_t len;

	if (*at > f->value_len)
		return false;
	len = f->value_len - *at;
	comma = len > 0 ? memchr(start, ',', len) : NULL;
	if (comma)
		len = (size_t)(comma - start);
	*at += len + 1;
	while (len > 0 && is_blank(start[0])) {
		start++;
		len--;
	}
	while (len > 0 && is_blank(start[len - 1]))
		len--;
	*ret = start;
	*ret_len = len;
	return true;
}
