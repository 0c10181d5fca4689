/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "egress/tls-hello.h"

/*
 * Pieces do not matter: a beginning of a good hello wants more, one of a bad hello wants more until it is bad and stays so.  A name is
 * canonical and is in the bytes, cut by records or not.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_result(enum tls_hello_state state, size_t size, const struct tls_hello *h)
{
	char again[HOSTNAME_SIZE];

	if ((state == TLS_HELLO_BAD) != (h->why != NULL) ||
	    (state != TLS_HELLO_DONE && (h->name[0] || h->len)) || h->len > size || h->len > TLS_HELLO_MAX)
		abort();
	if (state == TLS_HELLO_MORE && size >= TLS_HELLO_MAX)
		abort();
	if (h->name[0] &&
	    (hostname_parse(h->name, strlen(h->name), again, NULL) < 0 || !str_eq(again, h->name)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum tls_hello_state last = TLS_HELLO_MORE;
	const size_t step = size > 512 ? size / 64 : 1;
	struct tls_hello h, whole;
	const enum tls_hello_state state = tls_hello_parse(data, size, &whole);

	require_result(state, size, &whole);
	for (size_t len = 0; len <= size; len += step) {
		const enum tls_hello_state s = tls_hello_parse(data, len, &h);

		require_result(s, len, &h);
		if (last != TLS_HELLO_MORE && s != last)
			abort();
		last = s;
	}
	if (last != TLS_HELLO_MORE && last != state)
		abort();
	if (state == TLS_HELLO_DONE &&
	    (tls_hello_parse(data, whole.len, &h) != TLS_HELLO_DONE || h.len != whole.len ||
	     !str_eq(h.name, whole.name) || tls_hello_parse(data, whole.len - 1, &h) != TLS_HELLO_MORE))
		abort();
	return 0;
}
