/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "call/call-reply.h"

#include <string.h>

#define DATA "{\"ok\":true,\"data\":"
#define REFUSAL "{\"ok\":false,\"error\":"
#define CODE ",\"code\":"

static void put_data(struct call_reply *r, const char *bytes, size_t len)
{
	size_t n = 0;

	while (n < len && bytes[n] != '\n')
		n++;
	if (n > 0) {
		if (r->held)
			r->put(r->arg, &r->held, 1);
		r->put(r->arg, bytes, n - 1);
		r->held = bytes[n - 1];
	}
	if (n < len) {
		r->done = true;
		r->bad = r->held != '}';
	}
}

static void put_head(struct call_reply *r, const char *bytes, size_t len)
{
	const size_t skip = sizeof(DATA) - 1;

	for (size_t i = 0; i < len; i++) {
		if (r->len == sizeof(r->head) - 1) {
			r->done = r->bad = true;
			return;
		}
		if (bytes[i] == '\n') {
			r->done = true;
			r->head[r->len] = '\0';
			return;
		}
		r->head[r->len++] = bytes[i];
		if (r->len == skip && memcmp(r->head, DATA, skip) == 0) {
			r->data = true;
			put_data(r, bytes + i + 1, len - i - 1);
			return;
		}
	}
}

void call_reply_feed(struct call_reply *r, const char *bytes, size_t len)
{
	if (r->done)
		return;
	if (r->data)
		put_data(r, bytes, len);
	else
		put_head(r, bytes, len);
}

/* A JSON string at *AT, decoded over itself; escapes other than \" \\ \/ become '?'. */
static char *take_string(char **at)
{
	char *from = *at, *to, *text;

	if (*from++ != '"')
		return NULL;
	text = to = from;
	while (*from && *from != '"') {
		if (*from != '\\') {
			*to++ = *from++;
			continue;
		}
		if (!*++from)
			return NULL;
		*to++ = (*from == '"' || *from == '\\' || *from == '/') ? *from : '?';
		from++;
	}
	if (*from != '"')
		return NULL;
	*at = from + 1;
	*to = '\0';
	return text;
}

bool call_reply_refusal(struct call_reply *r, const char **ret_error, const char **ret_code)
{
	char *at = r->head + sizeof(REFUSAL) - 1;

	if (!r->done || r->bad || r->data || strncmp(r->head, REFUSAL, sizeof(REFUSAL) - 1) != 0)
		return false;
	*ret_error = take_string(&at);
	if (!*ret_error || strncmp(at, CODE, sizeof(CODE) - 1) != 0)
		return false;
	at += sizeof(CODE) - 1;
	*ret_code = take_string(&at);
	return *ret_code && strcmp(at, "}") == 0;
}
