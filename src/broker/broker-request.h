/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json.h"

/*
 * The lines of the socket:
 *
 *	{"token":"...","tool":"NAME","params":{...}}
 *	{"token":"...","list":"tools"}
 *	{"ok":true,"data":...}			{"ok":false,"error":"...","code":"..."}
 *
 * `params` may be missing.  Duplicate and unknown keys, NUL, and text that is not UTF-8 are refused.
 */
#define BROKER_LINE_MAX ((size_t)256 * 1024) /* without its LF */
#define BROKER_DEPTH_MAX 16

struct broker_request {
	struct jdoc *doc;
	const char *token, *tool;  /* NULL: missing, or not a string */
	const struct jdoc *params; /* an object */
	bool list;		   /* of the tools; no call */
};
int broker_request_parse(const char *line, size_t len, struct broker_request *ret,
			 struct fault *f) _must_check_;
void broker_request_done(struct broker_request *r);
#define _cleanup_broker_request_ _cleanup_(broker_request_done)

/* DATA is borrowed. */
void broker_reply_data(struct strbuf *out, const struct jdoc *data);
void broker_reply_refusal(struct strbuf *out, const char *code, const char *text);
