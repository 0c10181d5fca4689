/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <nettle/base64.h>
#include <string.h>

#include "ledger/ledger-redact-impl.h"

#define LINE_MIN 16 /* of a value with several lines each such line is secret as well */

static bool mask_one(const char *text, size_t len, const char *at, size_t n, bool *marks)
{
	const char *from = text, *found;

	while ((found = memmem(from, len - (size_t)(from - text), at, n))) {
		memset(marks + (found - text), true, n);
		from = found + 1;
	}
	return from > text;
}

static bool mask_secret(const char *text, size_t len, const struct redact_secret *s, bool *marks)
{
	const char *at = s->at, *end = s->at + s->len;
	bool hit = mask_one(text, len, s->at, s->len, marks);

	while (at < end) {
		const char *lf = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((lf ? lf : end) - at);

		if (n >= LINE_MIN && n < s->len)
			hit = mask_one(text, len, at, n, marks) || hit;
		at += n + 1;
	}
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
			hit = mask_secret(text, len, &rules->secrets[i], marks) || hit;
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
	_cleanup_free_ bool *marks = calloc(n + 1, sizeof(*marks));
	bool hit = false;

	if (!bytes || !marks)
		return true;
	base64_decode_init(&ctx);
	if (!base64_decode_update(&ctx, &n, bytes, len, text) || !base64_decode_final(&ctx))
		return true;
	for (size_t i = 0; i < rules->n_secrets; i++)
		if (rules->secrets[i].len > 0)
			hit = mask_secret((const char *)bytes, n, &rules->secrets[i], marks) || hit;
	explicit_bzero(bytes, n);
	return hit;
}
