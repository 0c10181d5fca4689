/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hostname.h"

/*
 * DNS messages as the stub inside a session reads and writes them: one question of class IN, no compression, nothing behind it but one
 * OPT record.  An answer has at most one address and never more bytes than DNS_ANSWER_SIZE, so it is never truncated.
 */
#define DNS_HEADER_SIZE 12
#define DNS_QUESTION_MAX (255 + 4)
#define DNS_QUERY_MAX 4096
#define DNS_ANSWER_SIZE 512

enum dns_rcode {
	DNS_RCODE_NOERROR = 0,
	DNS_RCODE_FORMERR = 1,
	DNS_RCODE_SERVFAIL = 2,
	DNS_RCODE_NXDOMAIN = 3,
	DNS_RCODE_NOTIMP = 4,
	DNS_RCODE_REFUSED = 5,
	DNS_RCODE_BADVERS = 16, /* with EDNS only; FORMERR without */
};

enum dns_type {
	DNS_TYPE_A = 1,
	DNS_TYPE_AAAA = 28,
	DNS_TYPE_OPT = 41,
	DNS_TYPE_SVCB = 64,
	DNS_TYPE_HTTPS = 65,
	DNS_TYPE_ANY = 255,
};

struct dns_query {
	uint16_t id, flags;
	char name[HOSTNAME_SIZE]; /* canonical; "" unless dns_query_parse returned 0 */
	uint16_t type, class;	  /* types are enum dns_type, and any other number */
	bool has_edns, edns_do;
	/* The question as it came: an answer repeats it, upper case included.  0: it was not read. */
	uint8_t question[DNS_QUESTION_MAX];
	size_t question_len;
};

/*
 * 0: a question for a host name.  -EBADMSG: no query (too short for a header, or an answer): drop it, for an answer to an answer can
 * loop.  Other errors are answered with dns_query_rcode(): -EINVAL malformed, -EOPNOTSUPP not a question of class IN,
 * -EPROTONOSUPPORT version of EDNS, -ENOENT no host name (the root, an address, other characters).  RET is always filled as far as an
 * answer needs it.
 */
int dns_query_parse(const uint8_t *bytes, size_t len, struct dns_query *ret) _must_check_;
enum dns_rcode dns_query_rcode(int r);

/*
 * The answer to Q: A for NOERROR and type A, else no record (NULL: the name exists and has none).  Returns the bytes written, 0 if
 * SIZE is too small; DNS_ANSWER_SIZE is always enough.
 */
size_t dns_answer_write(const struct dns_query *q, enum dns_rcode rcode, const struct in_addr *a,
			uint32_t ttl, uint8_t *out, size_t size);
