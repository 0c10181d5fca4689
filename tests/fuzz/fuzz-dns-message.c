/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <resolv.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "egress/dns-message.h"

/*
 * Every query has one answer that is no query; the name of a good one is what libc reads, and the answer repeats its question.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_name(const uint8_t *data, size_t size, const char *name)
{
	char text[1025], own[HOSTNAME_SIZE];

	if (dn_expand(data, data + size, data + DNS_HEADER_SIZE, text, sizeof(text)) < 0 ||
	    hostname_parse(text, strlen(text), own, NULL) < 0 || !str_eq(own, name))
		abort();
}

static void require_answer(const struct dns_query *q, enum dns_rcode rcode)
{
	const struct in_addr a = { .s_addr = htonl(0xc6120001) };
	uint8_t out[DNS_ANSWER_SIZE];
	struct dns_query read;
	size_t len = dns_answer_write(q, rcode, &a, 60, out, sizeof(out));

	if (len < DNS_HEADER_SIZE + q->question_len || dns_query_parse(out, len, &read) != -EBADMSG ||
	    memcmp(out + DNS_HEADER_SIZE, q->question, q->question_len) != 0)
		abort();
	if (rcode != DNS_RCODE_NOERROR && (out[6] || out[7]))
		abort();
	/* As a query again: the same name. */
	out[2] = 1;
	out[3] = out[7] = 0;
	len = DNS_HEADER_SIZE + q->question_len;
	out[11] = 0;
	if (q->name[0] && (dns_query_parse(out, len, &read) != 0 || !str_eq(read.name, q->name)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dns_query q;
	int r = dns_query_parse(data, size, &q);

	if ((r == 0) != (q.name[0] != '\0'))
		abort();
	if (r == -EBADMSG)
		return 0;
	if (dns_query_rcode(r) == DNS_RCODE_SERVFAIL)
		abort();
	if (r == 0)
		require_name(data, size, q.name);
	require_answer(&q, dns_query_rcode(r));
	return 0;
}
