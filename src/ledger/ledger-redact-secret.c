/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <nettle/base64.h>
#include <string.h>

#include "ledger/ledger-redact-impl.h"

#define LINE_MIN 16 /* of a value with several lines each such line is secret as well */

/* The first place of the N bytes AT; MARKS NULL: only that. */
static const char *mask_one(const char *text, size_t len, const char *at, size_t n, bool *marks)
{
	const char *first = memmem(text, len, at, n), *found = first;

	while (found && marks) {
		memset(marks + (found - text), true, n);
		found++;
		found = memmem(found, len - (size_t)(found - text), at, n);
	}
	return first;
}

/* The value and, of one with several lines, each long line. */
static const char *find_secret(const char *text, size_t len, const struct redact_secret *s, bool *marks)
{
	const char *at = s->at, *end = s->at + s->len;
	const char *hit = mask_one(text, len, s->at, s->len, marks);

	while (at < end) {
		const char *lf = memchr(at, '\n', (size_t)(end - at)), *line = NULL;
		const size_t with_end = (size_t)((lf ? lf : end) - at);
		const size_t n = with_end - (with_end > 0 && at[with_end - 1] == '\r');

		if (n >= LINE_MIN && n < s->len)
			line = mask_one(text, len, at, n, marks);
		hit = hit ? hit : line;
		at += with_end + 1;
	}
	return hit;
}

const char *redact_find_secret(const char *bytes, size_t len, const struct redact_secret *secrets, size_t n)
{
	const char *hit = NULL;

	for (size_t i = 0; i < n && !hit; i++)
		if (secrets[i].len > 0)
			hit = find_secret(bytes, len, &secrets[i], NULL);
	return hit;
}

/* Runs of marked bytes become one placeholder each. */
static void put_masked(struct strbuf *b, const char *text, size_t len, const bool *marks)
{
	for (size_t i = 0; i < len; i++) {
		if (!marks[i])
			strbuf_putc(b, text[i]);
		else if (i == 0 || !marks[i - 1])
			strbuf_puts(b, REDACTED);
	}
}

char *redact_mask(const char *text, const struct redact *rules)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_free_ bool *marks = NULL;
	size_t len = strlen(text);
	bool hit = false;

	if (!redact_has_secrets(rules))
		return strdup(text);
	marks = calloc(len + 1, sizeof(*marks));
	if (!marks)
		return NULL;
	for (size_t i = 0; i < rules->n_secrets; i++)
		if (rules->secrets[i].len > 0)
			hit = find_secret(text, len, &rules->secrets[i], marks) || hit;
	if (!hit)
		return strdup(text);
	put_masked(&b, text, len, marks);
	return strbuf_take(&b);
}

bool redact_is_secret_b64(const char *text, const struct redact *rules)
{
	struct base64_decode_ctx ctx;
	size_t len = strlen(text), n = BASE64_DECODE_LENGTH(len);
	_cleanup_free_ uint8_t *bytes = malloc(n + 1);
	bool hit;

	if (!bytes)
		return true;
	base64_decode_init(&ctx);
	if (!base64_decode_update(&ctx, &n, bytes, len, text) || !base64_decode_final(&ctx))
		return true;
	hit = redact_find_secret((const char *)bytes, n, rules->secrets, rules->n_secrets);
	explicit_bzero(bytes, n);
	return hit;
}
