/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "egress/http-field.h"
#include "egress/http-head.h"

#define PORT_HTTP 80

/* Written anew, or meant for the next server on the way only. */
static const char *const dropped[] = { "host",	     "content-length", "transfer-encoding", "connection",
				       "keep-alive", "upgrade",	       "http2-settings",    "te" };
static const char proxy[] = "proxy-";

static bool is_dropped(const struct http_field *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(dropped); i++)
		if (http_field_is(f, dropped[i]))
			return true;
	return f->name_len >= strlen(proxy) && http_is_text(f->name, strlen(proxy), proxy);
}

static void write_connection(const struct http_head *h, struct strbuf *out)
{
	if (h->is_websocket)
		strbuf_puts(out, "Connection: Upgrade\r\nUpgrade: websocket\r\n");
	else if (h->closes)
		strbuf_puts(out, "Connection: close\r\n");
	else if (h->is_http10)
		strbuf_puts(out, "Connection: keep-alive\r\n");
}

static void write_framing(const struct http_head *h, struct strbuf *out)
{
	if (h->framing == HTTP_FRAMING_LENGTH)
		strbuf_printf(out, "Content-Length: %" PRIu64 "\r\n", h->length);
	else if (h->framing == HTTP_FRAMING_CHUNKED)
		strbuf_puts(out, "Transfer-Encoding: chunked\r\n");
}

static void write_first(const struct http_head *h, const char *bytes, struct strbuf *out)
{
	strbuf_printf(out, "%s ", h->method);
	if (h->path_len > 0)
		strbuf_add(out, bytes + h->path, h->path_len);
	else
		strbuf_putc(out, '/');
	strbuf_printf(out, " HTTP/1.%c\r\nHost: %s", h->is_http10 ? '0' : '1', h->host);
	if (h->port != PORT_HTTP)
		strbuf_printf(out, ":%u", (unsigned int)h->port);
	strbuf_puts(out, "\r\n");
}

void http_head_write(const struct http_head *head, const char *bytes, struct strbuf *out)
{
	const char *at = memchr(bytes, '\n', head->len), *end = bytes + head->len - 2;

	write_first(head, bytes, out);
	for (at++; at < end;) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		struct http_field f;

		if (!http_field_parse(at, (size_t)(next - at) - 1, &f) && !is_dropped(&f)) {
			strbuf_add(out, f.name, f.name_len);
			strbuf_puts(out, ": ");
			strbuf_add(out, f.value, f.value_len);
			strbuf_puts(out, "\r\n");
		}
		at = next + 1;
	}
	write_framing(head, out);
	write_connection(head, out);
	strbuf_puts(out, "\r\n");
}
