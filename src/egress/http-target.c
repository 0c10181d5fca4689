/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/http-target.h"

#include <string.h>

#define PORT_HTTP 80
#define PORT_DIGITS_MAX 5
#define SCHEME "http://"

static const char *parse_port(const char *text, size_t len, uint16_t *ret)
{
	unsigned long port = 0;

	if (len == 0 || len > PORT_DIGITS_MAX || text[0] == '0')
		return "a malformed port";
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return "a malformed port";
		port = 10 * port + (unsigned long)(text[i] - '0');
	}
	if (port > UINT16_MAX)
		return "a malformed port";
	*ret = (uint16_t)port;
	return NULL;
}

const char *http_authority_parse(const char *text, size_t len, char ret_host[HOSTNAME_SIZE],
				 uint16_t *ret_port)
{
	const char *colon = len > 0 ? memchr(text, ':', len) : NULL;
	const size_t name = colon ? (size_t)(colon - text) : len;
	uint16_t port = 0;
	const char *why = colon ? parse_port(colon + 1, len - name - 1, &port) : NULL;

	/* A dot at the end is the same name for DNS and another one for virtual hosts. */
	if (name == 0 || text[name - 1] == '.' || hostname_parse(text, name, ret_host, NULL) < 0)
		return "the host is not a host name";
	if (why)
		return why;
	*ret_port = port;
	return NULL;
}

static bool is_path(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~' || text[i] == '#' || text[i] == '\\')
			return false;
	/* "//x" is a path for some and the host x for others. */
	return len > 0 && text[0] == '/' && (len == 1 || text[1] != '/');
}

static const char *set_path(struct http_head *h, size_t at, size_t len, const char *bytes)
{
	if (!is_path(bytes + at, len))
		return "a malformed path";
	h->path = at;
	h->path_len = len;
	return NULL;
}

/* http://host[:port][/path] */
static const char *parse_absolute(struct http_head *h, const char *bytes, size_t at, size_t len)
{
	const size_t start = at + strlen(SCHEME), end = at + len;
	const char *slash = memchr(bytes + start, '/', end - start);
	const size_t path = slash ? (size_t)(slash - bytes) : end;
	const char *why = http_authority_parse(bytes + start, path - start, h->host, &h->port);

	h->target = HTTP_TARGET_ABSOLUTE;
	if (!h->port)
		h->port = PORT_HTTP;
	return why || path == end ? why : set_path(h, path, end - path, bytes);
}

static const char *parse_connect(struct http_head *h, const char *text, size_t len)
{
	const char *why = http_authority_parse(text, len, h->host, &h->port);

	h->target = HTTP_TARGET_AUTHORITY;
	return why || h->port ? why : "CONNECT without a port";
}

static const char *parse_target(struct http_head *h, const char *bytes, size_t at, size_t len)
{
	const char *text = bytes + at;

	if (str_eq(h->method, "CONNECT"))
		return parse_connect(h, text, len);
	if (len > strlen(SCHEME) && memcmp(text, SCHEME, strlen(SCHEME)) == 0)
		return parse_absolute(h, bytes, at, len);
	if (len == 1 && text[0] == '*' && str_eq(h->method, "OPTIONS")) {
		h->target = HTTP_TARGET_ASTERISK;
		h->path = at;
		h->path_len = len;
		return NULL;
	}
	h->target = HTTP_TARGET_ORIGIN;
	return set_path(h, at, len, bytes);
}

static const char *parse_method(struct http_head *h, const char *text, size_t len)
{
	if (len == 0 || len >= HTTP_METHOD_SIZE)
		return "a malformed method";
	for (size_t i = 0; i < len; i++)
		if ((text[i] < 'A' || text[i] > 'Z') && text[i] != '-')
			return "a malformed method";
	memcpy(h->method, text, len);
	h->method[len] = '\0';
	return NULL;
}

static const char *parse_version(struct http_head *h, const char *text, size_t len)
{
	if (len != 8 || (memcmp(text, "HTTP/1.1", len) != 0 && memcmp(text, "HTTP/1.0", len) != 0))
		return "not HTTP/1.1 or HTTP/1.0";
	h->is_http10 = text[len - 1] == '0';
	return NULL;
}

const char *http_request_line_parse(struct http_head *head, const char *bytes, size_t len)
{
	const char *first = len > 0 ? memchr(bytes, ' ', len) : NULL;
	const char *last = first ? memrchr(bytes, ' ', len) : NULL;
	size_t method, target;
	const char *why;

	if (!first || first == last)
		return "not a request line of HTTP";
	method = (size_t)(first - bytes);
	target = (size_t)(last - first) - 1;
	why = parse_version(head, last + 1, len - method - target - 2);
	if (!why)
		why = parse_method(head, bytes, method);
	return why ? why : parse_target(head, bytes, method + 1, target);
}
