/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <limits.h>
#include <string.h>

#include "ledger/ledger-redact-find.h"

bool redact_is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool redact_is_token(char c)
{
	return redact_is_name(c) || c == '-' || c == '.' || c == '+' || c == '=' || c == '~';
}

static bool is_plain(char c)
{
	return redact_is_token(c) || c == '/';
}

bool redact_is_plain(const char *p, size_t len)
{
	size_t n = 0;

	while (n < len && is_plain(p[n]))
		n++;
	return n == len && len >= REDACT_PLAIN_MIN && !strchr("-.~", p[0]);
}

/* The beginning of the plain word that P is a part of. */
static const char *word_start(const char *text, const char *p)
{
	while (p > text && is_plain(p[-1]) && p[-1] != '=')
		p--;
	return p;
}

static bool is_file(const struct redact *rules, const char *p, size_t len)
{
	char name[PATH_MAX];

	if (len == 0 || len >= sizeof(name))
		return false;
	memcpy(name, p, len);
	name[len] = '\0';
	return rules->is_file(rules->is_file_arg, name);
}

bool redact_is_file(const struct redact *rules, const char *text, const char *p, size_t len)
{
	const char *start = word_start(text, p), *end = p + len;

	if (!rules->is_file)
		return false;
	while (is_plain(*end))
		end++;
	return is_file(rules, p, len) ||
	       ((start < p || end > p + len) && is_file(rules, start, (size_t)(end - start)));
}

bool redact_is_command(const char *text, const char *p)
{
	const char *at = word_start(text, p);

	while (at > text && strchr(" \t\"'", at[-1]))
		at--;
	if (at == text || strchr(";|&(){}`!", at[-1]))
		return true;
	/* The lines of a here-document are data. */
	return at[-1] == '\n' && !memmem(text, (size_t)(at - text), "<<", 2);
}
