/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/tls-hello.h"

#include <string.h>

#define RECORD_HEADER 5
#define RECORD_HANDSHAKE 22
#define RECORD_MAX 16384
#define RECORDS_MAX 16
#define MESSAGE_HEADER 4
#define MESSAGE_CLIENT_HELLO 1
#define RANDOM_SIZE 32
#define SESSION_ID_MAX 32
#define EXTENSIONS_MAX 128
#define SERVER_NAME_HOST 0

enum extension {
	EXTENSION_SERVER_NAME = 0,
	EXTENSION_ALPN = 16,
	EXTENSION_ECH = 0xfe0d,
	EXTENSION_ESNI = 0xffce,
};

/* The part of a message that is not read yet. */
struct part {
	const uint8_t *at;
	size_t left;
};

static bool take(struct part *p, size_t len, struct part *ret)
{
	if (p->left < len)
		return false;
	*ret = (struct part){ p->at, len };
	p->at += len;
	p->left -= len;
	return true;
}

/* A number of SIZE bytes. */
static bool take_number(struct part *p, size_t size, size_t *ret)
{
	struct part bytes;
	size_t number = 0;

	if (!take(p, size, &bytes))
		return false;
	for (size_t i = 0; i < size; i++)
		number = number << 8 | bytes.at[i];
	*ret = number;
	return true;
}

/* A vector behind its length of SIZE bytes. */
static bool take_vector(struct part *p, size_t size, struct part *ret)
{
	size_t len;

	return take_number(p, size, &len) && take(p, len, ret);
}

static bool is_text(const struct part *p, const char *text)
{
	return p->left == strlen(text) && memcmp(p->at, text, p->left) == 0;
}

/* NULL: good; else why not.  So for all of read_*. */
static const char *read_name(struct part data, struct tls_hello *h)
{
	struct part list, name;
	size_t type;

	if (!take_vector(&data, 2, &list) || data.left > 0)
		return "malformed server_name extension";
	if (!take_number(&list, 1, &type) || type != SERVER_NAME_HOST || !take_vector(&list, 2, &name))
		return "malformed server_name extension";
	if (list.left > 0)
		return "more than one server name";
	if (name.left == 0 || name.at[name.left - 1] == '.' ||
	    hostname_parse((const char *)name.at, name.left, h->name, NULL) < 0)
		return "the server name is not a host name";
	return NULL;
}

static const char *read_protocols(struct part data, struct tls_hello *h)
{
	struct part list, protocol;

	if (!take_vector(&data, 2, &list) || data.left > 0 || list.left == 0)
		return "malformed ALPN extension";
	h->has_alpn = true;
	while (list.left > 0) {
		if (!take_vector(&list, 1, &protocol) || protocol.left == 0)
			return "malformed ALPN extension";
		h->has_h2 |= is_text(&protocol, "h2");
		h->has_http11 |= is_text(&protocol, "http/1.1");
	}
	return NULL;
}

static const char *read_extension(size_t type, const struct part *data, struct tls_hello *h)
{
	switch (type) {
	case EXTENSION_SERVER_NAME:
		return read_name(*data, h);
	case EXTENSION_ALPN:
		return read_protocols(*data, h);
	case EXTENSION_ECH:
	case EXTENSION_ESNI:
		h->has_ech = true;
		return NULL;
	default:
		return NULL;
	}
}

static const char *read_extensions(struct part list, struct tls_hello *h)
{
	uint16_t seen[EXTENSIONS_MAX];
	size_t count = 0, type;
	struct part data;

	while (list.left > 0) {
		const char *why;

		if (!take_number(&list, 2, &type) || !take_vector(&list, 2, &data))
			return "malformed extensions";
		for (size_t i = 0; i < count; i++)
			if (seen[i] == type)
				return "an extension is there twice";
		if (count == EXTENSIONS_MAX)
			return "too many extensions";
		seen[count++] = (uint16_t)type;
		why = read_extension(type, &data, h);
		if (why)
			return why;
	}
	return NULL;
}

static const char *read_hello(struct part message, struct tls_hello *h)
{
	struct part random, session, ciphers, methods, extensions;
	size_t version;

	if (!take_number(&message, 2, &version) || version < 0x0301 || version > 0x0303)
		return "not TLS 1.0 to 1.3";
	if (!take(&message, RANDOM_SIZE, &random) || !take_vector(&message, 1, &session) ||
	    session.left > SESSION_ID_MAX)
		return "malformed session id";
	if (!take_vector(&message, 2, &ciphers) || ciphers.left == 0 || ciphers.left % 2 != 0)
		return "malformed cipher suites";
	if (!take_vector(&message, 1, &methods) || methods.left == 0)
		return "malformed compression methods";
	if (message.left == 0)
		return NULL; /* TLS 1.0 without extensions */
	if (!take_vector(&message, 2, &extensions) || message.left > 0)
		return "malformed extensions";
	return read_extensions(extensions, h);
}

/* The message, gathered from its records. */
struct gather {
	const uint8_t *bytes;
	size_t len, at; /* AT: the header of the next record */
	size_t gained;
	uint8_t message[MESSAGE_HEADER + TLS_HELLO_MESSAGE_MAX];
};

static enum tls_hello_state bad(struct tls_hello *h, const char *why)
{
	*h = (struct tls_hello){ .why = why };
	return TLS_HELLO_BAD;
}

/* As much of the next header as is there. */
static const char *check_header(const struct gather *g)
{
	const uint8_t *header = g->bytes + g->at;
	const size_t left = g->len - g->at;

	if (left > 0 && header[0] != RECORD_HANDSHAKE)
		return g->at == 0 ? "not TLS" : "a record of another kind inside of the hello";
	if ((left > 1 && header[1] != 3) || (left > 2 && (header[2] < 1 || header[2] > 3)))
		return "not TLS 1.0 to 1.3";
	if (left < RECORD_HEADER)
		return NULL;
	if ((header[3] == 0 && header[4] == 0) || (header[3] << 8 | header[4]) > RECORD_MAX)
		return "a record of wrong length";
	return NULL;
}

/* The message and MISSING more bytes of its last record fit its own length; RET_DONE: all of it is there. */
static const char *check_message(const struct gather *g, size_t missing, bool *ret_done)
{
	const uint8_t *m = g->message;
	size_t size;

	if (g->gained > 0 && m[0] != MESSAGE_CLIENT_HELLO)
		return "not a ClientHello";
	if (g->gained < MESSAGE_HEADER)
		return NULL;
	size = MESSAGE_HEADER + ((size_t)m[1] << 16 | (size_t)m[2] << 8 | m[3]);
	if (size > sizeof(g->message))
		return "the hello is too long";
	if (g->gained + missing > size)
		return "bytes behind the hello in its record";
	*ret_done = g->gained == size;
	return NULL;
}

/* MORE: the next record follows, if RET_WAIT is false. */
static enum tls_hello_state take_record(struct gather *g, struct tls_hello *h, bool *ret_wait)
{
	const char *why = check_header(g);
	const size_t left = g->len - g->at;
	size_t size, have;
	bool done = false;

	*ret_wait = true;
	if (why)
		return bad(h, why);
	if (left < RECORD_HEADER)
		return TLS_HELLO_MORE;
	size = (size_t)g->bytes[g->at + 3] << 8 | g->bytes[g->at + 4];
	have = left - RECORD_HEADER < size ? left - RECORD_HEADER : size;
	if (have > sizeof(g->message) - g->gained)
		return bad(h, "the hello is too long");
	memcpy(g->message + g->gained, g->bytes + g->at + RECORD_HEADER, have);
	g->gained += have;
	why = check_message(g, size - have, &done);
	if (why)
		return bad(h, why);
	g->at += RECORD_HEADER + have;
	*ret_wait = have < size;
	return done ? TLS_HELLO_DONE : TLS_HELLO_MORE;
}

enum tls_hello_state tls_hello_parse(const uint8_t *bytes, size_t len, struct tls_hello *ret)
{
	struct gather g = { .bytes = bytes, .len = len };
	enum tls_hello_state state = TLS_HELLO_MORE;
	const char *why;
	bool wait = false;

	*ret = (struct tls_hello){ 0 };
	for (size_t i = 0; state == TLS_HELLO_MORE && !wait; i++) {
		if (i == RECORDS_MAX)
			return bad(ret, "the hello is in too many records");
		state = take_record(&g, ret, &wait);
	}
	if (state != TLS_HELLO_DONE)
		return state;
	why = read_hello((struct part){ g.message + MESSAGE_HEADER, g.gained - MESSAGE_HEADER }, ret);
	if (why)
		return bad(ret, why);
	ret->len = g.at;
	return TLS_HELLO_DONE;
}
