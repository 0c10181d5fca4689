/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/array.h"
#include "inspect/inspect-impl.h"

#define BODY_MIN 24   /* characters of base64 in a row that follow the header of a key */
#define BODY_NEAR 512 /* within so many bytes: headers and line ends are between */
#define MARKER_MAX 64 /* of "-----BEGIN ... PRIVATE KEY BLOCK-----" on each side */

static bool has_text(const char *p, size_t len, const char *text)
{
	return memmem(p, len, text, strlen(text));
}

/* A document that only names the header has no key behind it. */
static bool has_body(const char *p, size_t len)
{
	size_t run = 0;

	len = len < BODY_NEAR ? len : BODY_NEAR;
	for (size_t i = 0; i < len; i++) {
		run = inspect_is(p[i], INSPECT_BASE64) ? run + 1 : 0;
		if (run == BODY_MIN)
			return inspect_distinct(p + i + 1 - BODY_MIN, BODY_MIN) >= 8;
	}
	return false;
}

/* At "PRIVATE KEY": is it within the marker of PEM or armor? */
static bool is_key(const char *p, size_t at, size_t len)
{
	const size_t before = at < MARKER_MAX ? at : MARKER_MAX,
		     after = len - at < MARKER_MAX ? len - at : MARKER_MAX;
	const char *end = memmem(p + at, after, "-----", 5);

	return end && has_text(p + at - before, before, "-----BEGIN ") &&
	       has_body(end + 5, len - (size_t)(end + 5 - p));
}

void inspect_pem(const struct inspect_scan *s, const char *p, size_t at, size_t len)
{
	if (is_key(p, at, len))
		inspect_report(s, INSPECT_SECRET_PEM, at);
}

/* The key is behind its public half. */
void inspect_putty(const struct inspect_scan *s, const char *p, size_t at, size_t len)
{
	const size_t near = len - at < 2048 ? len - at : 2048;
	const char *key = memmem(p + at, near, "Private-Lines:", strlen("Private-Lines:"));

	if (key && has_body(key, len - (size_t)(key - p)))
		inspect_report(s, INSPECT_SECRET_KEY_FILE, at);
}

/* Words that stand for a password in manuals. */
static bool is_placeholder(const char *p, size_t len)
{
	static const char *const words[] = { "password", "pass",       "passwd",   "pw",
					     "pwd",	 "secret",     "token",	   "xxx",
					     "example",	 "mypassword", "changeme", "anonymous" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == len && strncasecmp(p, words[i], len) == 0)
			return true;
	/* ${PASSWORD}, <password>, [password], {password}, ***, %s, $PW */
	return len < 3 || strchr("$<[{*%:", p[0]) || inspect_distinct(p, len) < 3;
}

static bool ends_url(char c)
{
	return inspect_is(c, INSPECT_BLANK) || strchr("/?#\"'<>`\\,()|", c);
}

/* Behind "://": NAME:PASSWORD@HOST. */
static bool has_password(const char *p, size_t len)
{
	const char *colon = NULL, *at = NULL;

	for (size_t i = 0; i < len && i < 1024 && !(ends_url(p[i]) && p[i] != '<'); i++) {
		colon = !colon && p[i] == ':' ? p + i : colon;
		at = p[i] == '@' ? p + i : at;
	}
	/* "cvs://:pserver:anoncvs@host" has no name. */
	if (!at || !colon || colon == p || colon > at || at + 1 == p + len ||
	    !inspect_is(at[1], INSPECT_ALNUM))
		return false;
	return !is_placeholder(colon + 1, (size_t)(at - colon) - 1);
}

void inspect_url(const struct inspect_scan *s, const char *p, size_t at, size_t len)
{
	if (at > 0 && inspect_is(p[at - 1], INSPECT_ALNUM) && has_password(p + at + 3, len - at - 3))
		inspect_report(s, INSPECT_SECRET_URL, at);
}
