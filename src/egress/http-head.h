/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hostname.h"
#include "base/str.h"

/*
 * The head of one HTTP/1 request: for which host it is, and where its body ends.  Each request of a connection is read anew.  A head that
 * two servers could read differently is bad: a bare CR or LF, a folded line, a blank before a colon, two lengths, a length and chunks,
 * two hosts, a Host that is not the target's, other spellings of these fields, a body of a GET, which servers may take for the next
 * request.  HTTP/2 without TLS is bad too.
 */
#define HTTP_HEAD_MAX 32768
#define HTTP_FIELDS_MAX 100
#define HTTP_METHOD_SIZE 33

enum http_head_state {
	HTTP_HEAD_BAD,
	HTTP_HEAD_MORE,
	HTTP_HEAD_DONE,
};

enum http_target {
	HTTP_TARGET_ORIGIN,    /* /path */
	HTTP_TARGET_ABSOLUTE,  /* http://host/path, to a proxy */
	HTTP_TARGET_AUTHORITY, /* host:port of CONNECT */
	HTTP_TARGET_ASTERISK,  /* OPTIONS * */
};

enum http_framing {
	HTTP_FRAMING_NONE,
	HTTP_FRAMING_LENGTH,
	HTTP_FRAMING_CHUNKED,
};

struct http_head {
	char method[HTTP_METHOD_SIZE];
	enum http_target target;
	size_t path,
		path_len; /* in the bytes: what an origin server gets, query included; 0 bytes mean "/" or no path at all */
	char host[HOSTNAME_SIZE]; /* canonical; never "" when DONE */
	uint16_t port;		  /* 80 if none is written */
	enum http_framing framing;
	uint64_t length; /* of HTTP_FRAMING_LENGTH */
	bool is_http10;
	bool closes;	   /* the client wants no further request on this connection */
	bool is_websocket; /* Upgrade: after an answer 101 the connection is no HTTP any more */
	bool expects_100;
	size_t len;	 /* DONE: bytes of the head; the body follows */
	const char *why; /* BAD: static text */

	/* Private: how far it was read, and what it said. */
	size_t line, seen, fields;
	bool has_host, has_length, has_encoding, has_upgrade, wants_upgrade, keeps;
};

/*
 * Zero *HEAD before the first call; then BYTES grows at its end and keeps its beginning (it may move in memory).  Each byte is looked at
 * a fixed number of times, whatever the pieces.  MORE is never the answer to HTTP_HEAD_MAX bytes.
 */
enum http_head_state http_head_parse(struct http_head *head, const char *bytes, size_t len);

/*
 * The head for the origin server, from a head that is DONE and its bytes: never forward the bytes themselves.  The target is the path,
 * fields for a proxy and offers of HTTP/2 are gone, the fields that decide host and body are written anew.  Not for CONNECT.
 */
void http_head_write(const struct http_head *head, const char *bytes, struct strbuf *out);
