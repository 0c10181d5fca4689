/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/dns-message.h"

#include <errno.h>
#include <string.h>

#define FLAG_QR 0x8000
#define FLAG_AA 0x0400
#define FLAG_TC 0x0200
#define FLAG_RD 0x0100
#define FLAG_RA 0x0080
#define FLAG_Z 0x0040
#define FLAG_CD 0x0010
#define OPCODE_MASK 0x7800
#define RCODE_MASK 0x000f
#define CLASS_IN 1
#define EDNS_DO 0x8000
#define EDNS_UDP_SIZE 1232 /* what this side reads */
#define NAME_WIRE_MAX 255
#define POINTER_TO_QUESTION 0xc00c

/* The bytes of a query that are not read yet. */
struct cursor {
	const uint8_t *at;
	size_t left;
};

static bool take_u8(struct cursor *c, uint8_t *ret)
{
	if (c->left < 1)
		return false;
	*ret = *c->at++;
	c->left--;
	return true;
}

static bool take_u16(struct cursor *c, uint16_t *ret)
{
	uint8_t high, low;

	if (!take_u8(c, &high) || !take_u8(c, &low))
		return false;
	*ret = (uint16_t)(high << 8 | low);
	return true;
}

static bool skip(struct cursor *c, size_t len)
{
	if (c->left < len)
		return false;
	c->at += len;
	c->left -= len;
	return true;
}

/* One label behind its length.  A dot inside of it would become a border of labels in text: then RET_HOST is false. */
static bool take_label(struct cursor *c, size_t len, char *text, size_t *used, bool *ret_host)
{
	if (c->left < len)
		return false;
	if (memchr(c->at, '.', len))
		*ret_host = false;
	memcpy(text + *used, c->at, len);
	*used += len;
	text[(*used)++] = '.';
	return skip(c, len);
}

/* The name without compression: a pointer could lead to bytes that another reader takes for something else. */
static int take_name(struct cursor *c, char ret[HOSTNAME_SIZE])
{
	char text[NAME_WIRE_MAX + 1];
	size_t used = 0;
	bool host = true;
	uint8_t len;

	for (;;) {
		if (!take_u8(c, &len))
			return -EINVAL;
		if (len == 0)
			break;
		if (len > HOSTNAME_LABEL_MAX || used + len + 2 > NAME_WIRE_MAX)
			return -EINVAL;
		if (!take_label(c, len, text, &used, &host))
			return -EINVAL;
	}
	if (!host || hostname_parse(text, used, ret, NULL) < 0)
		return -ENOENT;
	return 0;
}

/* 0 or -ENOENT: the question was read. */
static int take_question(struct cursor *c, struct dns_query *q)
{
	const uint8_t *start = c->at;
	int r = take_name(c, q->name);

	if (r < 0 && r != -ENOENT)
		return r;
	if (!take_u16(c, &q->type) || !take_u16(c, &q->class))
		return -EINVAL;
	q->question_len = (size_t)(c->at - start);
	memcpy(q->question, start, q->question_len);
	return r;
}

static int take_options(struct cursor *c, uint16_t len)
{
	struct cursor options = { .at = c->at, .left = len };
	uint16_t code, size;

	if (!skip(c, len))
		return -EINVAL;
	while (options.left > 0)
		if (!take_u16(&options, &code) || !take_u16(&options, &size) || !skip(&options, size))
			return -EINVAL;
	return 0;
}

static int take_edns(struct cursor *c, struct dns_query *q)
{
	uint16_t type, size, flags, len;
	uint8_t root, rcode, version;
	int r;

	if (!take_u8(c, &root) || root != 0 || !take_u16(c, &type) || type != DNS_TYPE_OPT)
		return -EINVAL;
	if (!take_u16(c, &size) || !take_u8(c, &rcode) || !take_u8(c, &version) || !take_u16(c, &flags) ||
	    !take_u16(c, &len))
		return -EINVAL;
	r = take_options(c, len);
	if (r < 0)
		return r;
	q->has_edns = true;
	q->edns_do = flags & EDNS_DO;
	return version == 0 ? 0 : -EPROTONOSUPPORT;
}

/* Everything behind the question: at most one OPT record, and the end. */
static int take_rest(struct cursor *c, struct dns_query *q, uint16_t additional)
{
	int r = additional > 0 ? take_edns(c, q) : 0;

	if (c->left > 0)
		return -EINVAL;
	return r;
}

static int take_body(struct cursor *c, struct dns_query *q)
{
	uint16_t questions, answers, authorities, additional;
	int found, r;

	if (!take_u16(c, &questions) || !take_u16(c, &answers) || !take_u16(c, &authorities) ||
	    !take_u16(c, &additional))
		return -EBADMSG;
	if (q->flags & OPCODE_MASK)
		return -EOPNOTSUPP;
	if (q->flags & (FLAG_AA | FLAG_TC | FLAG_RA | FLAG_Z | RCODE_MASK))
		return -EINVAL;
	if (questions != 1 || answers != 0 || authorities != 0 || additional > 1)
		return -EINVAL;
	found = take_question(c, q);
	if (found < 0 && found != -ENOENT)
		return found;
	r = take_rest(c, q, additional);
	if (r < 0)
		return r;
	return q->class == CLASS_IN ? found : -EOPNOTSUPP;
}

int dns_query_parse(const uint8_t *bytes, size_t len, struct dns_query *ret)
{
	struct cursor c = { .at = bytes, .left = len };
	int r;

	*ret = (struct dns_query){ 0 };
	if (len < DNS_HEADER_SIZE || !take_u16(&c, &ret->id) || !take_u16(&c, &ret->flags) ||
	    (ret->flags & FLAG_QR))
		return -EBADMSG;
	r = len <= DNS_QUERY_MAX ? take_body(&c, ret) : -EINVAL;
	if (r < 0)
		ret->name[0] = '\0';
	return r;
}

enum dns_rcode dns_query_rcode(int r)
{
	switch (r) {
	case 0:
		return DNS_RCODE_NOERROR;
	case -ENOENT:
		return DNS_RCODE_NXDOMAIN;
	case -EOPNOTSUPP:
		return DNS_RCODE_NOTIMP;
	case -EPROTONOSUPPORT:
		return DNS_RCODE_BADVERS;
	case -EINVAL:
		return DNS_RCODE_FORMERR;
	default:
		return DNS_RCODE_SERVFAIL;
	}
}

/* Where an answer is written; `broken`: it has no room. */
struct writer {
	uint8_t *out;
	size_t len, size;
	bool broken;
};

static void put(struct writer *w, const uint8_t *bytes, size_t len)
{
	if (w->broken || w->size - w->len < len) {
		w->broken = true;
		return;
	}
	if (len > 0)
		memcpy(w->out + w->len, bytes, len);
	w->len += len;
}

static void put_u16(struct writer *w, unsigned int number)
{
	put(w, (const uint8_t[]){ (uint8_t)(number >> 8), (uint8_t)number }, 2);
}

static void put_u32(struct writer *w, uint32_t number)
{
	put_u16(w, number >> 16);
	put_u16(w, number & 0xffff);
}

static void put_address(struct writer *w, const struct in_addr *a, uint32_t ttl)
{
	put_u16(w, POINTER_TO_QUESTION);
	put_u16(w, DNS_TYPE_A);
	put_u16(w, CLASS_IN);
	put_u32(w, ttl);
	put_u16(w, sizeof(a->s_addr));
	put(w, (const uint8_t *)&a->s_addr, sizeof(a->s_addr));
}

static void put_edns(struct writer *w, const struct dns_query *q, enum dns_rcode rcode)
{
	put(w, (const uint8_t[]){ 0 }, 1);
	put_u16(w, DNS_TYPE_OPT);
	put_u16(w, EDNS_UDP_SIZE);
	put_u16(w, ((unsigned int)rcode >> 4) << 8);
	put_u16(w, q->edns_do ? EDNS_DO : 0);
	put_u16(w, 0);
}

size_t dns_answer_write(const struct dns_query *q, enum dns_rcode rcode, const struct in_addr *a,
			uint32_t ttl, uint8_t *out, size_t size)
{
	struct writer w = { .out = out, .size = size };
	const bool address = a && rcode == DNS_RCODE_NOERROR && q->question_len > 0 &&
			     q->type == DNS_TYPE_A && q->class == CLASS_IN;

	if (rcode == DNS_RCODE_BADVERS && !q->has_edns)
		rcode = DNS_RCODE_FORMERR;
	put_u16(&w, q->id);
	put_u16(&w, FLAG_QR | (q->flags & (OPCODE_MASK | FLAG_RD | FLAG_CD)) | FLAG_RA |
			    ((unsigned int)rcode & RCODE_MASK));
	put_u16(&w, q->question_len > 0);
	put_u16(&w, address);
	put_u16(&w, 0);
	put_u16(&w, q->has_edns);
	put(&w, q->question, q->question_len);
	if (address)
		put_address(&w, a, ttl);
	if (q->has_edns)
		put_edns(&w, q, rcode);
	return w.broken ? 0 : w.len;
}
