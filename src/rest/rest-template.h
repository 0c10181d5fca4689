/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

/* A path with places for parameters: "/repos/o/r/issues/{issue_number}".  Constant parts are written as they are sent. */
#define REST_VALUE_MAX 1024 /* bytes of one parameter in a path or query */

struct rest_part {
	const char *text;
	size_t len;
	bool is_name; /* of a parameter */
};

bool rest_template_is_valid(const char *text);
/* The part at *AT, which is behind it then; false at the end. */
bool rest_template_next(const char **at, struct rest_part *ret);
bool rest_template_has(const char *text, const char *name, size_t len);
bool rest_name_is_valid(const char *name, size_t len);

/* -EINVAL: a parameter is missing, or would change the path's shape: '/', '\', '%', "..", control characters, nothing. */
int rest_template_fill(const char *text, const struct jdoc *params, struct strbuf *out,
		       struct fault *f) _must_check_;

/* A string, a number or a truth value as text; NUMBER is room for it. */
#define REST_NUMBER_SIZE 24
int rest_value_text(const struct jdoc *params, const char *name, size_t len, char number[REST_NUMBER_SIZE],
		    const char **ret, struct fault *f) _must_check_;
void rest_encode(struct strbuf *out, const char *text); /* all but A-Z a-z 0-9 - . _ ~ as %XX */
