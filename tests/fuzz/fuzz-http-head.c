/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "egress/http-head.h"

/*
 * Pieces do not matter.  A head that is good is written anew to one that says the same, has one Host, and is written the same again.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_same(const struct http_head *a, const struct http_head *b)
{
	if (!str_eq(a->method, b->method) || !str_eq(a->host, b->host) || a->port != b->port ||
	    a->framing != b->framing || a->length != b->length || a->closes != b->closes ||
	    a->is_websocket != b->is_websocket || a->is_http10 != b->is_http10)
		abort();
}

static void require_one_host(const struct strbuf *text)
{
	size_t hosts = 0;

	for (const char *at = text->text; (at = strchr(at, '\n')); at++)
		hosts += strncasecmp(at + 1, "host", 4) == 0 && strchr(" \t:", at[5]);
	if (hosts != 1 || strlen(text->text) != text->len)
		abort();
}

static void require_written(const struct http_head *h, const char *bytes)
{
	_cleanup_strbuf_ struct strbuf first = { 0 }, second = { 0 };
	struct http_head read = { 0 };

	http_head_write(h, bytes, &first);
	/* It may be a little longer than the one that was read. */
	if (first.broken || first.len > HTTP_HEAD_MAX)
		return;
	if (http_head_parse(&read, first.text, first.len) != HTTP_HEAD_DONE || read.len != first.len)
		abort();
	require_same(h, &read);
	require_one_host(&first);
	http_head_write(&read, first.text, &second);
	if (!str_eq(first.text, second.text))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	struct http_head whole = { 0 }, pieces = { 0 };
	const enum http_head_state state = http_head_parse(&whole, bytes, size);
	enum http_head_state last = HTTP_HEAD_MORE;

	for (size_t len = 0; len <= size && last == HTTP_HEAD_MORE; len++)
		last = http_head_parse(&pieces, bytes, len);
	if (last != state || pieces.len != whole.len || !str_eq(pieces.why, whole.why) || whole.len > size ||
	    (state == HTTP_HEAD_MORE && size >= HTTP_HEAD_MAX))
		abort();
	if (state != HTTP_HEAD_DONE)
		return 0;
	require_same(&whole, &pieces);
	if (!whole.host[0] || (whole.target == HTTP_TARGET_AUTHORITY && !whole.port))
		abort();
	if (whole.target != HTTP_TARGET_AUTHORITY)
		require_written(&whole, bytes);
	return 0;
}
