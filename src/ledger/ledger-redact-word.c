/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-redact-word.h"

#include <string.h>
#include <strings.h>

/* clang-format off */
/* Parts of a name that indicate a secret value. */
static const char *const parts[] = {
	"password", "passwd", "passphrase", "token", "secret", "api_key", "apikey", "api-key", "access_key", "access-key",
	"private_key", "private-key", "credential", NULL,
};
/* Last words of such a name: DB_PASS, MYSQL_PWD. */
static const char *const ends[] = { "pass", "pwd", "auth", NULL };
/* Last words of an option that has a secret in its name and none as its value. */
static const char *const harmless[] = {
	"file", "path", "dir", "stdin", "prompt", "fd", "env", "type", "ttl", "url", "name", "id", "command", "cmd", "program", "helper",
	NULL,
};
/* clang-format on */

void redact_quote_feed(struct redact_quote *q, char c)
{
	if (q->escaped)
		q->escaped = false;
	else if (c == '\\' && q->open != '\'')
		q->escaped = true;
	else if (q->open == c)
		q->open = '\0';
	else if (!q->open && (c == '"' || c == '\''))
		q->open = c;
}

/* Behind the quote C that is at P; P itself if it is not closed. */
static const char *skip_quoted(const char *p, char c)
{
	for (const char *end = p + 1; *end; end++) {
		if (*end == c)
			return end + 1;
		if (*end == '\\' && c != '\'' && end[1])
			end++;
	}
	return p;
}

/* Behind the parenthesis that is at P. */
static const char *skip_group(const char *p)
{
	int depth = 0;

	for (; *p; p++) {
		depth += *p == '(';
		depth -= *p == ')';
		if (depth == 0)
			return p + 1;
	}
	return p;
}

size_t redact_word_run(const char *p, char open, bool to_quote)
{
	const char *end = p;

	while (*end && *end != open) {
		const char *next = end + 1;

		if (*end == '\\' && end[1])
			next = end + 2;
		else if (to_quote)
			next = end + 1;
		else if (*end == '"' || *end == '\'' || *end == '`')
			next = skip_quoted(end, *end);
		else if (*end == '$' && end[1] == '(')
			next = skip_group(end + 1);
		else if (strchr(" \t\n&;|)<>", *end))
			break;
		/* A quote that is not closed ends the word. */
		if (next == end)
			break;
		end = next;
	}
	return (size_t)(end - p);
}

size_t redact_json_run(const char *p)
{
	const char *end = *p == '"' || *p == '\'' ? skip_quoted(p, *p) : p;

	if (end > p)
		return (size_t)(end - p);
	/* A list, or a bare value. */
	return *p == '[' ? strcspn(p, "]") : strcspn(p, " \t\n,}\"'");
}

static char fold(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static bool has_part(const char *name, size_t len)
{
	/* Every word of every record comes here: most positions differ in the first letter of all parts. */
	for (size_t at = 0; at < len; at++) {
		const char first = fold(name[at]);

		for (const char *const *w = parts; *w; w++)
			if (first == **w && strlen(*w) <= len - at &&
			    strncasecmp(name + at, *w, strlen(*w)) == 0)
				return true;
	}
	return false;
}

/* Is one of WORDS the last word of NAME: the whole, or behind '_' or '-'? */
static bool ends_in(const char *name, size_t len, const char *const *words)
{
	for (; *words; words++) {
		size_t n = strlen(*words);

		if (n <= len && strncasecmp(name + len - n, *words, n) == 0 &&
		    (n == len || name[len - n - 1] == '_' || name[len - n - 1] == '-'))
			return true;
	}
	return false;
}

bool redact_name_is_secret(const char *name, size_t len)
{
	/* The working directory of every shell. */
	if (len == 3 && strncmp(name, "PWD", 3) == 0)
		return false;
	return has_part(name, len) || ends_in(name, len, ends);
}

bool redact_option_is_secret(const char *name, size_t len)
{
	return has_part(name, len) && !ends_in(name, len, harmless) && strncmp(name, "--no-", 5) != 0;
}

bool redact_name_is_harmless(const char *name, size_t len)
{
	return ends_in(name, len, harmless);
}
