/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hostname.h"

/*
 * The first message of a TLS client, read without an answer to it: which server it names.  A hello that servers could read differently
 * is bad: two names, an extension twice, bytes left over, a length that does not fit, records of another kind between its parts.
 *
 * What it cannot show: ECH hides the true name behind `name`, and GREASE looks the same as ECH, so has_ech means that the extension is
 * there, not that a second name is; `name` is then the one that the connection is for as far as the network can know.  After a
 * HelloRetryRequest the client sends a second hello, and inside of the connection it may ask for any name that the server serves.
 */
#define TLS_HELLO_MESSAGE_MAX 16384 /* bytes of the message; with keys of post-quantum exchange about 1800 */
#define TLS_HELLO_MAX \
	(TLS_HELLO_MESSAGE_MAX + 16 * 5 + 4) /* bytes to peek: the message in at most 16 records */

enum tls_hello_state {
	TLS_HELLO_BAD,
	TLS_HELLO_MORE, /* so far good; call again with more bytes of the same beginning */
	TLS_HELLO_DONE,
};

struct tls_hello {
	char name[HOSTNAME_SIZE]; /* canonical; "": the client names no server */
	bool has_ech, has_alpn, has_h2, has_http11;
	size_t len;	 /* DONE: bytes of the records of the hello; early data may follow */
	const char *why; /* BAD: static text */
};

/* MORE is never the answer to TLS_HELLO_MAX bytes.  RET is filled in every case. */
enum tls_hello_state tls_hello_parse(const uint8_t *bytes, size_t len, struct tls_hello *ret);
