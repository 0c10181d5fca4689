/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/http-head.h"

#include <string.h>

#include "base/array.h"
#include "egress/http-field.h"
#include "egress/http-target.h"

#define PORT_HTTP 80
#define LENGTH_DIGITS_MAX 18

/* NULL: good; else why not.  So for all of read_*. */
static const char *read_host(struct http_head *h, const struct http_field *f)
{
	char host[HOSTNAME_SIZE];
	uint16_t port;
	const char *why;

	if (h->has_host)
		return "two Host fields";
	h->has_host = true;
	why = http_authority_parse(f->value, f->value_len, host, &port);
	if (why)
		return why;
	if (h->target == HTTP_TARGET_AUTHORITY && !port)
		port = h->port;
	if (!port)
		port = PORT_HTTP;
	if (h->host[0] && (!str_eq(h->host, host) || h->port != port))
		return "Host is another one than the target's";
	memcpy(h->host, host, strlen(host) + 1);
	h->port = port;
	return NULL;
}

static const char *read_length(struct http_head *h, const struct http_field *f)
{
	if (h->has_length)
		return "two Content-Length fields";
	h->has_length = true;
	if (f->value_len == 0 || f->value_len > LENGTH_DIGITS_MAX || (f->value[0] == '0' && f->value_len > 1))
		return "a malformed Content-Length";
	for (size_t i = 0; i < f->value_len; i++) {
		if (f->value[i] < '0' || f->value[i] > '9')
			return "a malformed Content-Length";
		h->length = 10 * h->length + (uint64_t)(f->value[i] - '0');
	}
	h->framing = HTTP_FRAMING_LENGTH;
	return NULL;
}

static const char *read_encoding(struct http_head *h, const struct http_field *f)
{
	if (h->has_encoding)
		return "two Transfer-Encoding fields";
	h->has_encoding = true;
	if (!http_is_text(f->value, f->value_len, "chunked"))
		return "a Transfer-Encoding other than chunked";
	h->framing = HTTP_FRAMING_CHUNKED;
	return NULL;
}

/* Only words that name no field which this side or a server needs: a server drops fields that are named here. */
static const char *read_connection(struct http_head *h, const struct http_field *f)
{
	const char *word;
	size_t at = 0, len;

	while (http_field_next(f, &at, &word, &len)) {
		if (http_is_text(word, len, "close"))
			h->closes = true;
		else if (http_is_text(word, len, "keep-alive"))
			h->keeps = true;
		else if (http_is_text(word, len, "upgrade"))
			h->wants_upgrade = true;
		else if (!http_is_text(word, len, "te") && !http_is_text(word, len, "http2-settings"))
			return "a Connection field with other words";
	}
	return NULL;
}

static const char *read_upgrade(struct http_head *h, const struct http_field *f)
{
	if (h->has_upgrade)
		return "two Upgrade fields";
	h->has_upgrade = true;
	h->is_websocket = http_is_text(f->value, f->value_len, "websocket");
	/* An offer of HTTP/2 may be left unanswered: http_head_write drops it. */
	return h->is_websocket || http_is_text(f->value, f->value_len, "h2c") ? NULL : "an unknown Upgrade";
}

static const char *read_expect(struct http_head *h, const struct http_field *f)
{
	if (h->expects_100 || !http_is_text(f->value, f->value_len, "100-continue"))
		return "an unknown Expect";
	h->expects_100 = true;
	return NULL;
}

static const struct {
	const char *name;
	const char *(*read)(struct http_head *h, const struct http_field *f);
} readers[] = {
	{ "host", read_host },
	{ "content-length", read_length },
	{ "transfer-encoding", read_encoding },
	{ "connection", read_connection },
	{ "upgrade", read_upgrade },
	{ "expect", read_expect },
};

static const char *read_field(struct http_head *h, const struct http_field *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		if (http_field_is(f, readers[i].name))
			return readers[i].read(h, f);
		if (http_field_is_like(f, readers[i].name))
			return "a field name with '_' for '-'";
	}
	return NULL;
}

static const char *read_line(struct http_head *h, const char *line, size_t len)
{
	struct http_field f;
	const char *why = http_field_parse(line, len, &f);

	if (why)
		return why;
	return ++h->fields > HTTP_FIELDS_MAX ? "more than 100 fields" : read_field(h, &f);
}

static bool has_no_body(const char *method)
{
	static const char *const methods[] = { "GET", "HEAD", "TRACE", "CONNECT" };

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (str_eq(method, methods[i]))
			return true;
	return false;
}

static const char *check_body(const struct http_head *h)
{
	if (h->has_length && h->has_encoding)
		return "both Content-Length and Transfer-Encoding";
	if (h->has_encoding && h->is_http10)
		return "Transfer-Encoding in HTTP/1.0";
	if (has_no_body(h->method) && (h->has_encoding || h->length > 0))
		return "a body of a method that has none";
	return NULL;
}

static const char *check_head(const struct http_head *h)
{
	/* Old clients name the host of a CONNECT only once. */
	if (!h->has_host && (h->target != HTTP_TARGET_AUTHORITY || !h->is_http10))
		return "no Host field";
	if (h->closes && h->keeps)
		return "both close and keep-alive";
	if (h->has_upgrade != h->wants_upgrade)
		return "Upgrade and Connection do not agree";
	if (h->is_websocket && (!str_eq(h->method, "GET") || h->is_http10))
		return "a WebSocket that is not opened by GET of HTTP/1.1";
	return check_body(h);
}

/* The line BYTES[head->line..END); RET_END: it was the empty one. */
static const char *take_line(struct http_head *h, const char *bytes, size_t end, bool *ret_end)
{
	const char *why;

	if (h->line == 0)
		return http_request_line_parse(h, bytes, end);
	if (end > h->line)
		return read_line(h, bytes + h->line, end - h->line);
	why = check_head(h);
	if (!why && h->is_http10 && !h->keeps)
		h->closes = true;
	*ret_end = !why;
	return why;
}

/* The byte at I, the next one. */
static const char *take_byte(struct http_head *h, const char *bytes, size_t i, bool *ret_end)
{
	const unsigned char c = (unsigned char)bytes[i];
	const char *why;

	if (i > h->line && bytes[i - 1] == '\r') {
		if (c != '\n')
			return "CR without LF";
		why = take_line(h, bytes, i - 1, ret_end);
		h->line = i + 1;
		return why;
	}
	if (c == '\n')
		return "LF without CR";
	return (c < 0x20 && c != '\t' && c != '\r') || c == 0x7f ? "a control character" : NULL;
}

enum http_head_state http_head_parse(struct http_head *head, const char *bytes, size_t len)
{
	bool end = false;

	for (; !end && !head->why && !head->len && head->seen < len && head->seen < HTTP_HEAD_MAX;
	     head->seen++)
		head->why = take_byte(head, bytes, head->seen, &end);
	if (end)
		head->len = head->seen;
	if (!head->why && !head->len && head->seen == HTTP_HEAD_MAX)
		head->why = "a head of more than 32 KiB";
	if (head->why)
		return HTTP_HEAD_BAD;
	return head->len ? HTTP_HEAD_DONE : HTTP_HEAD_MORE;
}
