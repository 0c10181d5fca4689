/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * One reply of the broker as it arrives, piece by piece: {"ok":true,"data":DATA} or {"ok":false,"error":"...","code":"..."}.  The broker
 * writes it in exactly this form; anything else is no reply.  No library, for unit tests with one.
 */
struct call_reply {
	void (*put)(void *arg, const char *bytes, size_t len); /* gets DATA */
	void *arg;
	char head[4096]; /* until it is known which one it is; of a refusal, all of it */
	size_t len;
	char held; /* the last byte of DATA so far is the closing brace of the reply, if the reply ends there; 0: none */
	bool data, done, bad;
};

void call_reply_feed(struct call_reply *r, const char *bytes, size_t len);
/* After DONE, of a refusal: its two texts, decoded in place.  False: malformed. */
bool call_reply_refusal(struct call_reply *r, const char **ret_error, const char **ret_code);
