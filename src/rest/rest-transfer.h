/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/json.h"

/* One request by libcurl, which only custody-rest is linked with.  docs/design/rest.md lists the features that are switched off. */
struct rest_transfer {
	const struct jdoc *request; /* of rest_request_describe() */
	char **addresses, **reply_names;
	const char *credential; /* a whole header; NULL: none */
	size_t reply_max;
	/* The reply. */
	long status;
	struct strbuf body;
	struct jdoc *headers;
	size_t header_bytes;
	/* Why it failed. */
	bool too_large, bad_address;
};

/* The fault is a sentence for the caller inside: no address and no path of this host, and nothing that the server sent. */
int rest_transfer_run(struct rest_transfer *t, struct fault *f) _must_check_;
void rest_transfer_done(struct rest_transfer *t);
#define _cleanup_rest_transfer_ _cleanup_(rest_transfer_done)
