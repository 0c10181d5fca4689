/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "rest/rest-declaration.h"

/* One call of a tool, filled: all that leaves this machine but the credential. */
struct rest_request {
	char *url;
	char *host;
	uint64_t port;
	char *body; /* JSON; NULL: none */
};

/* PARAMS is an object.  -EINVAL: one is missing, unknown, or does not fit its place.  Nothing is sent. */
int rest_request_make(const struct rest_declaration *d, const struct jdoc *params, struct rest_request *ret,
		      struct fault *f) _must_check_;
void rest_request_done(struct rest_request *q);
#define _cleanup_rest_request_ _cleanup_(rest_request_done)

/* What custody-rest reads, as one line; REPLY_MAX: bytes of the reply's body.  NULL: no memory. */
struct jdoc *rest_request_describe(const struct rest_declaration *d, const struct rest_request *q,
				   uint64_t reply_max);
