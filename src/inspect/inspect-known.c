/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <nettle/base64.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/inspect-impl.h"

/* The other alphabet. */
static void to_urlsafe(char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (char)(p[i] == '+' ? '-' : p[i] == '/' ? '_' : p[i]);
}

/*
 * Base64 of a text in which SHIFT bytes (of any number, by three) are before the secret, without the characters that its neighbours
 * determine as well.
 */
static bool has_shifted(const char *p, size_t len, const struct redact_secret *secret, size_t shift,
			char *room)
{
	static const size_t skip[] = { 0, 2, 3 };
	const size_t n = shift + secret->len, keep = n * 8 / 6 - skip[shift];
	char *plain = room, *text = room + n;
	bool hit;

	memset(plain, 0, shift);
	memcpy(plain + shift, secret->at, secret->len);
	base64_encode_raw(text, n, (const uint8_t *)plain);
	hit = memmem(p, len, text + skip[shift], keep);
	to_urlsafe(text + skip[shift], keep);
	return hit || memmem(p, len, text + skip[shift], keep);
}

/* A view of a run decodes it from its first character; here the secret may begin anywhere in it. */
static bool has_base64(const char *p, size_t len, const struct redact_secret *secret)
{
	const size_t room_size = secret->len + 2 + BASE64_ENCODE_RAW_LENGTH(secret->len + 2);
	char *room;
	bool hit = false;

	if (len < secret->len || secret->len < 6)
		return false;
	room = malloc(room_size);
	for (size_t shift = 0; room && shift < 3 && !hit; shift++)
		hit = has_shifted(p, len, secret, shift, room);
	if (room)
		explicit_bzero(room, room_size);
	hit = hit || !room;
	free(room);
	return hit;
}

void inspect_known(const struct inspect_scan *s, const char *p, size_t len)
{
	const struct inspect_options *o = s->found->options;
	const char *hit;

	if (!o || o->n_secrets == 0)
		return;
	hit = redact_find_secret(p, len, o->secrets, o->n_secrets);
	if (hit)
		inspect_report(s, INSPECT_SECRET_KNOWN, (size_t)(hit - p));
	for (size_t i = 0; i < o->n_secrets && !hit && s->depth == 0; i++)
		if (has_base64(p, len, &o->secrets[i])) {
			inspect_report(s, INSPECT_SECRET_KNOWN, 0);
			return;
		}
}
