/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * One field line of HTTP without its CR LF, in a head or in the trailers of a body.  Bytes stay where they are; VALUE has no blanks
 * around it.
 */
struct http_field {
	const char *name, *value;
	size_t name_len, value_len;
};

bool http_is_token(const char *text, size_t len);		   /* tchar of RFC 9110, not empty */
bool http_is_text(const char *text, size_t len, const char *word); /* ASCII, upper case is lower case */

/* NULL: good; else why not (static text): no name, a blank before the colon, a folded line, a control character. */
const char *http_field_parse(const char *line, size_t len, struct http_field *ret);
bool http_field_is(const struct http_field *f, const char *name);
/* Spelled with '_' for '-': programs behind a server take Content_Length for Content-Length. */
bool http_field_is_like(const struct http_field *f, const char *name);
/* Decides where a body ends or for which host a request is. */
bool http_field_frames(const struct http_field *f);

/* The next element of a list between commas; *AT starts at 0.  False: no more.  RET_LEN is 0 for an empty element. */
bool http_field_next(const struct http_field *f, size_t *at, const char **ret, size_t *ret_len);
