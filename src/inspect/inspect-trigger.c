/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/array.h"
#include "inspect/inspect-impl.h"

/*
 * One pass over the text looks for three bytes of any of these, and of the prefixes of tokens, at once: each belongs to a bucket, and a
 * bit of the three tables says which buckets have that byte as their first, second and third one.
 */
#define TOKEN_BUCKETS 28

static const struct trigger {
	const char *text;
	bool inside; /* also where a letter or digit stands before it */
	void (*look)(const struct inspect_scan *s, const char *p, size_t at, size_t len);
} triggers[] = {
	/* clang-format off */
	{ "eyJ",          false, inspect_jwt },
	{ "Basic ",       false, inspect_basic },
	{ "basic ",       false, inspect_basic },
	{ "://",          true,  inspect_url },
	{ "PRIVATE KEY",  true,  inspect_pem },
	{ "PuTTY-User-Key-File-", false, inspect_putty },
	{ "Q~",           true,  inspect_azure_client },
	{ "sig=",         false, inspect_azure_signature },
	{ ":AA",          true,  inspect_telegram },
	{ ".atlasv1.",    true,  inspect_terraform },
	/* clang-format on */
};

static void put(struct inspect_state *f, const char *text, unsigned int bucket)
{
	const uint32_t bit = UINT32_C(1) << bucket;

	f->bytes[0][(uint8_t)text[0]] |= bit;
	f->bytes[1][(uint8_t)text[1]] |= bit;
	if (text[2])
		f->bytes[2][(uint8_t)text[2]] |= bit;
	for (unsigned int c = 0; !text[2] && c < 256; c++)
		f->bytes[2][c] |= bit;
}

static size_t count_tokens(void)
{
	size_t n = 0;

	while (inspect_token_prefix(n))
		n++;
	return n;
}

void inspect_state_init(struct inspect_state *f)
{
	*f = (struct inspect_state){ .n_tokens = count_tokens() };
	for (size_t i = 0; i < f->n_tokens; i++)
		put(f, inspect_token_prefix(i), (unsigned int)(i * TOKEN_BUCKETS / f->n_tokens));
	for (size_t i = 0; i < ARRAY_SIZE(triggers); i++)
		put(f, triggers[i].text, TOKEN_BUCKETS + (unsigned int)(i % (32 - TOKEN_BUCKETS)));
}

static void look_at(const struct inspect_scan *s, const char *p, size_t at, size_t len, uint32_t buckets)
{
	const struct inspect_state *f = s->state;
	const bool inside = at > 0 && inspect_is(p[at - 1], INSPECT_ALNUM);

	for (size_t i = 0; i < f->n_tokens && !inside; i++)
		if (buckets >> (i * TOKEN_BUCKETS / f->n_tokens) & 1 && inspect_token(s, i, p, at, len))
			return;
	for (size_t i = 0; i < ARRAY_SIZE(triggers) && buckets >> TOKEN_BUCKETS; i++) {
		const size_t n = strlen(triggers[i].text);

		if ((!inside || triggers[i].inside) && len - at > n &&
		    memcmp(p + at, triggers[i].text, n) == 0)
			triggers[i].look(s, p, at, len);
	}
}

void inspect_triggers(const struct inspect_scan *s, const char *p, size_t len)
{
	const uint32_t *first = s->state->bytes[0], *second = s->state->bytes[1], *third = s->state->bytes[2];

	for (size_t at = 0; at + 2 < len; at++) {
		const uint32_t buckets =
			first[(uint8_t)p[at]] & second[(uint8_t)p[at + 1]] & third[(uint8_t)p[at + 2]];

		if (buckets)
			look_at(s, p, at, len, buckets);
	}
}
