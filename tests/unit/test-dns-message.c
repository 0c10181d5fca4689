/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/dns-message.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "base/str.h"

#include "tap.h"

/* A literal with NUL bytes. */
#define BYTES(text) (text), sizeof(text) - 1

#define HEAD "\x12\x34\x01\x00\0\1\0\0\0\0\0\0"
#define HEAD_EDNS "\x12\x34\x01\x20\0\1\0\0\0\0\0\1"
#define NAME "\3API\6github\3com\0"
#define QUESTION NAME "\0\1\0\1"
#define OPT "\0\0\x29\x04\xd0\0\0\0\0\0\0"

static int parse(const char *bytes, size_t len, struct dns_query *ret)
{
	/* Heap without room behind it, so that a sanitizer sees one byte too many. */
	uint8_t *copy = malloc(len ? len : 1);
	int r;

	if (!copy)
		abort();
	memcpy(copy, bytes, len);
	r = dns_query_parse(copy, len, ret);
	free(copy);
	if (r < 0 && ret->name[0])
		abort();
	return r;
}

static void DOOR_4_a_question_has_its_canonical_name(void)
{
	struct dns_query q;

	CHECK(parse(BYTES(HEAD QUESTION), &q) == 0);
	CHECK(str_eq(q.name, "api.github.com") && q.id == 0x1234 && q.type == DNS_TYPE_A && q.class == 1);
	CHECK(!q.has_edns && q.question_len == sizeof(QUESTION) - 1 &&
	      memcmp(q.question, BYTES(QUESTION)) == 0);
	CHECK(parse(BYTES(HEAD_EDNS QUESTION OPT), &q) == 0 && q.has_edns && !q.edns_do);
	CHECK(parse(BYTES(HEAD_EDNS QUESTION "\0\0\x29\x04\xd0\0\0\x80\0\0\x0c\0\x0a\0\x08"
					     "12345678"),
		    &q) == 0 &&
	      q.edns_do);
	CHECK(parse(BYTES(HEAD NAME "\0\x41\0\1"), &q) == 0 && q.type == DNS_TYPE_HTTPS);
}

static void DOOR_4_no_query_no_answer(void)
{
	struct dns_query q;

	for (size_t len = 0; len < DNS_HEADER_SIZE; len++)
		CHECK(parse(HEAD QUESTION, len, &q) == -EBADMSG);
	CHECK(parse(BYTES("\x12\x34\x81\x00\0\1\0\0\0\0\0\0" QUESTION), &q) == -EBADMSG);
}

static void DOOR_4_malformed_questions_are_refused(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		int r;
	} cases[] = {
		{ BYTES(HEAD), -EINVAL },
		{ BYTES("\0\1\1\0\0\0\0\0\0\0\0\0"), -EINVAL },			  /* no question */
		{ BYTES("\0\1\1\0\0\2\0\0\0\0\0\0" QUESTION QUESTION), -EINVAL }, /* two */
		{ BYTES("\0\1\1\0\0\1\0\1\0\0\0\0" QUESTION), -EINVAL },	  /* an answer */
		{ BYTES("\0\1\1\0\0\1\0\0\0\1\0\0" QUESTION), -EINVAL },	  /* an authority */
		{ BYTES("\0\1\1\0\0\1\0\0\0\0\0\2" QUESTION OPT OPT), -EINVAL },  /* two OPT */
		{ BYTES("\0\1\1\0\0\1\0\0\0\0\0\1" QUESTION), -EINVAL },	  /* no OPT */
		{ BYTES("\0\1\1\0\0\1\0\0\0\0\0\0" QUESTION OPT), -EINVAL },	  /* not counted */
		{ BYTES("\0\1\1\0\0\1\0\0\0\0\0\1" QUESTION QUESTION "\0\0\0\0\0\0"), -EINVAL },
		{ BYTES(HEAD QUESTION "x"), -EINVAL },		  /* bytes behind it */
		{ BYTES(HEAD "\3api\xc0\x0c\0\1\0\1"), -EINVAL }, /* a pointer */
		{ BYTES(HEAD "\xc0\x0c\0\1\0\1"), -EINVAL },	  /* to itself */
		{ BYTES(HEAD "\x41"
			     "a\0\0\1\0\1"),
		  -EINVAL },						       /* a type of label */
		{ BYTES("\0\1\3\0\0\1\0\0\0\0\0\0" QUESTION), -EINVAL },       /* TC */
		{ BYTES("\0\1\5\0\0\1\0\0\0\0\0\0" QUESTION), -EINVAL },       /* AA */
		{ BYTES("\0\1\1\x80\0\1\0\0\0\0\0\0" QUESTION), -EINVAL },     /* RA */
		{ BYTES("\0\1\1\x40\0\1\0\0\0\0\0\0" QUESTION), -EINVAL },     /* Z */
		{ BYTES("\0\1\1\3\0\1\0\0\0\0\0\0" QUESTION), -EINVAL },       /* a code of an answer */
		{ BYTES("\0\1\x29\0\0\1\0\0\0\0\0\0" QUESTION), -EOPNOTSUPP }, /* UPDATE */
		{ BYTES("\0\1\x21\0\0\1\0\0\0\0\0\0" QUESTION), -EOPNOTSUPP }, /* NOTIFY */
		{ BYTES("\0\1\1\0\0\2\0\0\0\0\0\0" QUESTION), -EINVAL },       /* counted twice */
		{ BYTES(HEAD "\x40"
			     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\0\0\1\0\1"),
		  -EINVAL },					/* a label of 64 bytes */
		{ BYTES(HEAD NAME "\0\x10\0\3"), -EOPNOTSUPP }, /* CHAOS */
		{ BYTES(HEAD NAME "\0\1\0\xff"), -EOPNOTSUPP }, /* class ANY */
		{ BYTES(HEAD_EDNS QUESTION "\0\0\x29\x04\xd0\0\1\0\0\0\0"), -EPROTONOSUPPORT },
		{ BYTES(HEAD_EDNS QUESTION "\0\0\x29\x04\xd0\0\0\0\0\0\1x"), -EINVAL }, /* half an option */
		{ BYTES(HEAD_EDNS QUESTION "\0\0\x29\x04\xd0\0\0\0\0\0\4\0\1\0\1"), -EINVAL },
		{ BYTES(HEAD_EDNS QUESTION "\0\0\x29\x04\xd0\0\0\0\0\0\4\0\1\0"), -EINVAL },
		{ BYTES(HEAD_EDNS QUESTION "\1a\0\0\x29\x04\xd0\0\0\0\0\0\0"), -EINVAL }, /* OPT of a name */
	};
	struct dns_query q;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK(parse(cases[i].bytes, cases[i].len, &q) == cases[i].r);
	/* No prefix of a good one is good. */
	for (size_t len = DNS_HEADER_SIZE; len < sizeof(HEAD_EDNS QUESTION OPT) - 1; len++)
		CHECK(parse(HEAD_EDNS QUESTION OPT, len, &q) == -EINVAL);
}

static void DOOR_4_names_that_are_no_hosts_are_not_found(void)
{
	static const struct {
		const char *bytes;
		size_t len;
	} cases[] = {
		{ BYTES(HEAD "\0\0\1\0\1") },		    /* the root */
		{ BYTES(HEAD "\6github\4.com\0\0\1\0\1") }, /* dots inside of a label */
		{ BYTES(HEAD "\x0egithub.com.evl\0\0\1\0\1") },
		{ BYTES(HEAD "\1.\0\0\1\0\1") },
		{ BYTES(HEAD "\6github\4com\0\0\0\1\0\1") }, /* NUL */
		{ BYTES(HEAD "\6git ub\3com\0\0\1\0\1") },
		{ BYTES(HEAD "\003"
			     "127\001"
			     "0\001"
			     "0\001"
			     "1\0\0\1\0\1") }, /* 127.0.0.1 */
		{ BYTES(HEAD "\2a\xe4\3com\0\0\1\0\1") },
		{ BYTES(HEAD "\1*\3com\0\0\1\0\1") },
	};
	struct dns_query q;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CHECK(parse(cases[i].bytes, cases[i].len, &q) == -ENOENT);
		CHECK(dns_query_rcode(-ENOENT) == DNS_RCODE_NXDOMAIN && q.question_len > 0);
	}
}

static size_t long_query(size_t labels, size_t last, uint8_t *out)
{
	size_t len = DNS_HEADER_SIZE;

	memcpy(out, HEAD, len);
	for (size_t i = 0; i <= labels; i++) {
		const size_t n = i < labels ? 63 : last;

		out[len++] = (uint8_t)n;
		memset(out + len, 'a', n);
		len += n;
	}
	memcpy(out + len, "\0\0\1\0\1", 5);
	return len + 5;
}

static void DOOR_4_lengths_are_bounded(void)
{
	uint8_t bytes[DNS_QUERY_MAX + 1] = { 0 };
	struct dns_query q;
	size_t len = long_query(3, 61, bytes);

	CHECK(dns_query_parse(bytes, len, &q) == 0 && strlen(q.name) == 253 &&
	      q.question_len == DNS_QUESTION_MAX);
	len = long_query(3, 62, bytes);
	CHECK(dns_query_parse(bytes, len, &q) == -EINVAL);
	len = long_query(60, 1, bytes);
	CHECK(dns_query_parse(bytes, len, &q) == -EINVAL);
	/* An OPT record that fills it up. */
	memcpy(bytes, BYTES(HEAD_EDNS QUESTION "\0\0\x29\x04\xd0\0\0\0\0"));
	len = sizeof(HEAD_EDNS QUESTION "\0\0\x29\x04\xd0\0\0\0\0") - 1;
	for (size_t total = DNS_QUERY_MAX; total <= DNS_QUERY_MAX + 1; total++) {
		const size_t left = total - len - 2;

		memset(bytes + len, 0, left + 2);
		bytes[len] = (uint8_t)(left >> 8);
		bytes[len + 1] = (uint8_t)left;
		bytes[len + 4] = (uint8_t)((left - 4) >> 8);
		bytes[len + 5] = (uint8_t)(left - 4);
		CHECK(dns_query_parse(bytes, total, &q) == (total <= DNS_QUERY_MAX ? 0 : -EINVAL));
	}
}

static bool answer_is(const char *query, size_t query_len, enum dns_rcode rcode, const char *want, size_t len)
{
	const struct in_addr a = { .s_addr = htonl(0xc6120001) };
	uint8_t out[DNS_ANSWER_SIZE];
	struct dns_query q;

	if (parse(query, query_len, &q) == -EBADMSG)
		return false;
	return dns_answer_write(&q, rcode, &a, 60, out, sizeof(out)) == len && memcmp(out, want, len) == 0;
}

static void DOOR_4_an_answer_repeats_its_question(void)
{
	CHECK(answer_is(BYTES(HEAD QUESTION), DNS_RCODE_NOERROR,
			BYTES("\x12\x34\x81\x80\0\1\0\1\0\0\0\0" QUESTION
			      "\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc6\x12\0\1")));
	/* Only a question for A has one: HTTPS and SVCB would turn on ECH, AAAA has no route. */
	CHECK(answer_is(BYTES(HEAD NAME "\0\x1c\0\1"), DNS_RCODE_NOERROR,
			BYTES("\x12\x34\x81\x80\0\1\0\0\0\0\0\0" NAME "\0\x1c\0\1")));
	CHECK(answer_is(BYTES(HEAD NAME "\0\x41\0\1"), DNS_RCODE_NOERROR,
			BYTES("\x12\x34\x81\x80\0\1\0\0\0\0\0\0" NAME "\0\x41\0\1")));
	CHECK(answer_is(BYTES(HEAD NAME "\0\xff\0\1"), DNS_RCODE_NOERROR,
			BYTES("\x12\x34\x81\x80\0\1\0\0\0\0\0\0" NAME "\0\xff\0\1")));
	/* A refusal has no address. */
	CHECK(answer_is(BYTES(HEAD_EDNS QUESTION OPT), DNS_RCODE_NXDOMAIN,
			BYTES("\x12\x34\x81\x83\0\1\0\0\0\0\0\1" QUESTION OPT)));
	CHECK(answer_is(BYTES(HEAD "\xc0\x0c\0\1\0\1"), DNS_RCODE_FORMERR,
			BYTES("\x12\x34\x81\x81\0\0\0\0\0\0\0\0")));
	CHECK(answer_is(BYTES("\0\1\x29\0\0\1\0\0\0\0\0\0" QUESTION), DNS_RCODE_NOTIMP,
			BYTES("\0\1\xa9\x84\0\0\0\0\0\0\0\0")));
	CHECK(answer_is(BYTES(HEAD_EDNS QUESTION "\0\0\x29\x04\xd0\0\1\x80\0\0\0"), DNS_RCODE_BADVERS,
			BYTES("\x12\x34\x81\x80\0\1\0\0\0\0\0\1" QUESTION "\0\0\x29\x04\xd0\1\0\x80\0\0\0")));
}

static void DOOR_4_an_answer_without_an_address_is_NODATA(void)
{
	uint8_t out[DNS_ANSWER_SIZE];
	struct dns_query q;

	CHECK(parse(BYTES(HEAD QUESTION), &q) == 0);
	CHECK(dns_answer_write(&q, DNS_RCODE_NOERROR, NULL, 60, out, sizeof(out)) ==
	      sizeof(HEAD QUESTION) - 1);
	CHECK(memcmp(out, BYTES("\x12\x34\x81\x80\0\1\0\0\0\0\0\0" QUESTION)) == 0);
}

static void DOOR_4_an_answer_that_does_not_fit_is_not_written(void)
{
	const struct in_addr a = { .s_addr = htonl(0xc6120001) };
	uint8_t bytes[512], out[DNS_ANSWER_SIZE];
	struct dns_query q;
	size_t len;

	CHECK(dns_query_parse(bytes, long_query(3, 61, bytes), &q) == 0);
	q.has_edns = true;
	len = dns_answer_write(&q, DNS_RCODE_NOERROR, &a, 60, out, sizeof(out));
	CHECK(len > 255 && len <= DNS_ANSWER_SIZE);
	for (size_t size = 0; size < len; size++)
		CHECK(dns_answer_write(&q, DNS_RCODE_NOERROR, &a, 60, out, size) == 0);
	CHECK(dns_answer_write(&q, DNS_RCODE_NOERROR, &a, 60, out, len) == len);
}

TAP_MAIN(T(DOOR_4_a_question_has_its_canonical_name), T(DOOR_4_no_query_no_answer),
	 T(DOOR_4_malformed_questions_are_refused), T(DOOR_4_names_that_are_no_hosts_are_not_found),
	 T(DOOR_4_lengths_are_bounded), T(DOOR_4_an_answer_repeats_its_question),
	 T(DOOR_4_an_answer_without_an_address_is_NODATA),
	 T(DOOR_4_an_answer_that_does_not_fit_is_not_written))
