/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <strings.h>

#include "inspect/inspect-impl.h"
#include "ledger/ledger-redact-word.h"

#define RUN_MIN 16    /* bytes of a run that may be base64 of a secret */
#define VALUE_MIN 20  /* of a random value */
#define VALUE_MAX 512 /* beyond it: data */
#define NAME_MAX_LEN 64

static bool is_name(char c)
{
	return inspect_is(c, INSPECT_ALNUM) || c == '_' || c == '-' || c == '.';
}

static bool ends_with(const char *name, size_t len, const char *end)
{
	const size_t n = strlen(end);

	return len >= n && strncasecmp(name + len - n, end, n) == 0;
}

/* Digests, identifiers and public parts are random, and no secrets. */
static bool is_public(const char *name, size_t len)
{
	static const char *const ends[] = { "hash", "digest", "checksum", "sum",  "integrity",
					    "sha1", "sha256", "sha512",	  "id",	  "fingerprint",
					    "url",  "uri",    "path",	  "file", NULL };

	for (const char *const *end = ends; *end; end++)
		if (ends_with(name, len, *end))
			return true;
	for (size_t i = 0; i + 6 <= len; i++)
		if (strncasecmp(name + i, "public", 6) == 0)
			return true;
	return false;
}

static bool is_secret_name(const char *name, size_t len)
{
	if (len == 0 || is_public(name, len))
		return false;
	return redact_name_is_secret(name, len) || ends_with(name, len, "signing_key") ||
	       ends_with(name, len, "encryption_key") || ends_with(name, len, "account_key") ||
	       ends_with(name, len, "authorization") || ends_with(name, len, "signing-key");
}

/* NAME = "VALUE", "name": "VALUE", name=VALUE: is the name before AT one of a secret? */
static bool has_secret_name(const struct inspect_scan *s, const char *p, size_t at)
{
	size_t end = at, start;
	bool assigned = false;

	while (end > 0 && at - end < 8 && strchr(" \t\"'`=:>\\(", p[end - 1]) && p[end - 1]) {
		assigned = assigned || p[end - 1] == '=' || p[end - 1] == ':' || p[end - 1] == '>';
		end--;
	}
	if (end == 0 && s->depth == 0)
		return s->name && is_secret_name(s->name, strlen(s->name));
	start = end;
	while (start > 0 && end - start < NAME_MAX_LEN && is_name(p[start - 1]))
		start--;
	return assigned && is_secret_name(p + start, end - start);
}

/* 8-4-4-4-12 hexadecimal digits: an identifier nearly always. */
static bool is_uuid(const char *p, size_t len)
{
	return len == 36 && p[8] == '-' && p[13] == '-' && p[18] == '-' && p[23] == '-';
}

/* Behind the blanks and the line end at AT: where the next line begins. */
static size_t next_line(const char *p, size_t at, size_t len)
{
	bool ended = false;

	for (; at < len && inspect_is(p[at], INSPECT_BLANK); at++)
		ended = ended || p[at] == '\n';
	return ended ? at : len;
}

static size_t run_at(const char *p, size_t at, size_t len)
{
	while (at < len && inspect_is(p[at], INSPECT_BASE64))
		at++;
	return at;
}

/*
 * The lines that continue the run from AT to END: all as long as the first of them, but the last.  The run itself may be shorter, behind
 * a name, or may not belong to them at all: then *AGAIN is where the same lines are to be looked at without it.  So each line is in two
 * such texts at most.
 */
static size_t find_end(const char *p, size_t at, size_t end, size_t len, size_t *again)
{
	const size_t first = end - at;
	size_t line = 0;

	*again = len;
	while (end < len) {
		const size_t next = next_line(p, end, len), to = run_at(p, next, len), n = to - next;

		if (n == 0 || (line > 0 && n > line))
			break;
		if (line == 0 && n > first)
			*again = next;
		end = to;
		if (n < (line > 0 ? line : first))
			break;
		line = n;
	}
	return end;
}

static void look_at(const struct inspect_scan *s, const char *p, size_t at, size_t end)
{
	const size_t n = end - at;

	if (n >= VALUE_MIN && n <= VALUE_MAX && has_secret_name(s, p, at) && !is_uuid(p + at, n) &&
	    inspect_is_random(p + at, n))
		inspect_report(s, INSPECT_SECRET_ENTROPY, at);
	if (s->depth < INSPECT_VIEWS_MAX)
		inspect_view_base64(s, p, at, end);
}

/* Returns where the next such text may begin. */
static size_t look_at_lines(const struct inspect_scan *s, const char *p, size_t at, size_t end, size_t len)
{
	size_t again;
	const size_t to = find_end(p, at, end, len, &again);

	if (to > end)
		inspect_view_base64(s, p, at, to);
	return again < to ? again : to;
}

void inspect_runs(const struct inspect_scan *s, const char *p, size_t len)
{
	size_t at = 0, end, lines = 0;

	while (at < len) {
		if (len - at < RUN_MIN)
			return;
		/* From the back: behind a byte that ends runs, none of the bytes before it matters. */
		end = at + RUN_MIN;
		while (end > at && inspect_is(p[end - 1], INSPECT_BASE64))
			end--;
		if (end > at) {
			at = end;
			continue;
		}
		end = run_at(p, at + RUN_MIN, len);
		look_at(s, p, at, end);
		if (at >= lines && s->depth < INSPECT_VIEWS_MAX)
			lines = look_at_lines(s, p, at, end, len);
		at = end;
	}
}
