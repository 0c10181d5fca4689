/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "inspect/inspect-impl.h"

/* UTF-16 of both byte orders: ASCII in it is every second byte, between NULs. */
#define WIDE_MIN 8 /* characters; fewer are in no secret */

/* Every second byte from AT on, as long as a NUL follows; 1: the last one may be the end.  Returns the end. */
static size_t narrow(const char *p, size_t at, size_t len, struct strbuf *out)
{
	out->len = 0;
	for (; at < len && p[at]; at += 2) {
		strbuf_putc(out, p[at]);
		if (at + 1 < len && p[at + 1])
			return at + 1;
	}
	return at < len ? at : len;
}

void inspect_wide(const struct inspect_scan *s, const char *p, size_t len)
{
	_cleanup_strbuf_ struct strbuf view = { 0 };
	const char *nul;
	size_t at = 0;

	if (s->depth == INSPECT_VIEWS_MAX)
		return;
	while (at < len && (nul = memchr(p + at, '\0', len - at))) {
		const size_t zero = (size_t)(nul - p), begin = zero > at ? zero - 1 : zero + 1;
		const size_t end = narrow(p, begin, len, &view);

		if (view.broken) {
			inspect_broken(s->found);
			return;
		}
		if (view.len >= WIDE_MIN)
			inspect_view(s, view.text, view.len, begin);
		at = end > zero ? end : zero + 1;
	}
	if (view.text)
		explicit_bzero(view.text, view.room);
}
