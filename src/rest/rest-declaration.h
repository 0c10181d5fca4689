/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"

/*
 * What an operator allows one tool of kind `rest` to send: one method, one path and one set of members at one server.  The
 * parameters of a call fill the places that are named here, and nothing else.  docs/design/rest.md.
 */
struct rest_declaration {
	char *url; /* "https://HOST[:PORT][/PREFIX]", HOST may be "{param}"; NULL: the tool is of another kind */
	char *method;	       /* "GET", "POST" ... */
	char *path;	       /* "/repos/o/r/issues/{issue_number}" */
	char **query, **body;  /* "NAME", "NAME?" (may be missing), "NAME=TEXT" (constant) */
	char **headers;	       /* "NAME: VALUE", constant */
	char **reply_headers;  /* names in lower case that the caller gets */
	char **hosts;	       /* whole labels, or "*." and a name; NULL: the host of the URL alone */
	char **addresses;      /* kinds of net-address.h that the host may have */
	char *ca;	       /* certificates to trust in place of the system's; NULL: the system's */
	char *credential;      /* its name; NULL: none */
	char *header, *scheme; /* that it goes into: "Authorization", "Bearer" */
};

/* Can a call of D, whose tool has SCOPE ("PARAM=VALUE" ...), be filled?  Said when the configuration is read. */
int rest_declaration_check(const struct rest_declaration *d, char *const *scope,
			   struct fault *f) _must_check_;
/* All of it, for the digest of the declaration. */
void rest_declaration_describe(const struct rest_declaration *d, struct jdoc *object);

/* Each place that a parameter fills: a name may come more than once. */
struct rest_place {
	const char *name;
	size_t len;
	bool required;
	bool text; /* of the URL: a string, a number or a truth value */
};
void rest_declaration_each_place(const struct rest_declaration *d,
				 void (*each)(void *arg, const struct rest_place *place), void *arg);

/* Shapes of custody.json. */
bool rest_is_url(const char *text);
bool rest_is_method(const char *text);
bool rest_is_path(const char *text);
bool rest_is_field(const char *text);
bool rest_is_header(const char *text);
bool rest_is_reply_header(const char *text);
bool rest_is_scheme(const char *text);
bool rest_is_host(const char *text); /* of `hosts` */
bool rest_is_credential(const char *text);

/* One item of query or body.  NAME has LEN bytes. */
struct rest_field {
	const char *name;
	size_t len;
	bool optional;
	const char *constant; /* NULL: a parameter */
};
struct rest_field rest_field_parse(const char *text); /* that rest_is_field() accepts */

/* The parts of a URL that rest_is_url() accepts, borrowed. */
struct rest_url {
	bool tls;
	const char *host;
	size_t host_len;
	const char *param; /* the host is this parameter; NULL: it is a name */
	size_t param_len;
	uint64_t port;
	const char *prefix; /* "", or begins with '/' */
};
int rest_url_parse(const char *text, struct rest_url *ret) _must_check_;
