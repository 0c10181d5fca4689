/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rest/rest-declaration.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "credential/credential.h"
#include "rest/rest-template.h"

#define HTTPS_PORT 443
#define HTTP_PORT 80
#define HEADER_MAX 1024
#define SCHEME_MAX 32
#define TOKEN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

static const char *const methods[] = { "GET", "POST", "PUT", "PATCH", "DELETE" };

/* libcurl writes them, or they carry a credential, which a file that others read must not hold. */
static const char *const own_headers[] = { "host",
					   "content-length",
					   "transfer-encoding",
					   "connection",
					   "expect",
					   "content-type",
					   "authorization",
					   "cookie",
					   "upgrade",
					   "te",
					   "accept-encoding" };

bool rest_is_method(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (str_eq(text, methods[i]))
			return true;
	return false;
}

bool rest_is_path(const char *text)
{
	return rest_template_is_valid(text);
}

struct rest_field rest_field_parse(const char *text)
{
	struct rest_field field = { .name = text, .len = strcspn(text, "?=") };

	field.optional = text[field.len] == '?';
	if (text[field.len] == '=')
		field.constant = text + field.len + 1;
	return field;
}

bool rest_is_field(const char *text)
{
	const struct rest_field field = rest_field_parse(text);

	return rest_name_is_valid(field.name, field.len) && (!field.optional || !text[field.len + 1]);
}

bool rest_is_header(const char *text)
{
	const size_t len = strspn(text, TOKEN);

	if (len == 0 || !str_starts(text + len, ": ") || !text[len + 2] || strlen(text) > HEADER_MAX ||
	    strncasecmp(text, "proxy-", strlen("proxy-")) == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(own_headers); i++)
		if (strlen(own_headers[i]) == len && strncasecmp(text, own_headers[i], len) == 0)
			return false;
	for (const char *at = text + len; *at; at++)
		if (*at < ' ' || *at > '~')
			return false;
	return true;
}

bool rest_is_reply_header(const char *text)
{
	const size_t len = strlen(text);

	return len > 0 && len <= 64 && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == len &&
	       !str_eq(text, "set-cookie");
}

bool rest_is_scheme(const char *text)
{
	return strlen(text) <= SCHEME_MAX && strspn(text, TOKEN) == strlen(text);
}

bool rest_is_host(const char *text)
{
	return credential_host_is_valid(text);
}

bool rest_is_credential(const char *text)
{
	return credential_name_is_valid(text);
}

/* --- the URL ---------------------------------------------------------------------------------------------------------- */

static int parse_port(const char **at, struct rest_url *url)
{
	if (**at != ':')
		return 0;
	(*at)++;
	return str_take_u64(at, 10, &url->port) == 0 && url->port >= 1 && url->port <= 65535 ? 0 : -EINVAL;
}

static int parse_host(const char **at, struct rest_url *url)
{
	url->host = *at;
	url->host_len = strcspn(*at, ":/");
	if (url->host_len > 2 && url->host[0] == '{') {
		url->param = url->host + 1;
		url->param_len = url->host_len - 2;
		if (url->host[url->host_len - 1] != '}' || !rest_name_is_valid(url->param, url->param_len))
			return -EINVAL;
	}
	*at += url->host_len;
	return 0;
}

int rest_url_parse(const char *text, struct rest_url *ret)
{
	struct rest_url url = { .tls = str_starts(text, "https://") };
	_cleanup_free_ char *host = NULL;
	const char *at = text + strlen(url.tls ? "https://" : "http://");

	if (!url.tls && !str_starts(text, "http://"))
		return -EINVAL;
	url.port = url.tls ? HTTPS_PORT : HTTP_PORT;
	if (parse_host(&at, &url) < 0 || parse_port(&at, &url) < 0)
		return -EINVAL;
	url.prefix = at;
	host = strndup(url.host, url.host_len);
	if (!host)
		return -ENOMEM;
	if (!url.param && (*host == '*' || !credential_host_is_valid(host)))
		return -EINVAL;
	if (*at && (!rest_template_is_valid(at) || strchr(at, '{') || str_ends(at, "/")))
		return -EINVAL;
	*ret = url;
	return 0;
}

bool rest_is_url(const char *text)
{
	struct rest_url url;

	return rest_url_parse(text, &url) == 0;
}

/* --- the whole ---------------------------------------------------------------------------------------------------------- */

static int check_url(const struct rest_declaration *d, struct fault *f)
{
	_cleanup_free_ char *host = NULL;
	struct rest_url url;

	if (rest_url_parse(d->url, &url) < 0)
		return fault_set(f, EINVAL, "rest.url cannot be read");
	host = strndup(url.host, url.host_len);
	if (!host)
		return fault_errno(f, ENOMEM, "rest.url");
	if (url.param && !d->hosts)
		return fault_set(f, EINVAL,
				 "rest.url has a parameter as its host: list the names in rest.hosts");
	if (!url.param && d->hosts && !credential_host_fits(d->hosts, host))
		return fault_set(f, EINVAL, "the host of rest.url is not in rest.hosts");
	if (!url.tls && (strv_len(d->addresses) != 1 || !str_eq(d->addresses[0], "loopback")))
		return fault_set(
			f, EINVAL,
			"rest.url: http is not encrypted: use https, or \"addresses\": [\"loopback\"] for "
			"a server of this machine");
	if (!url.tls && d->ca)
		return fault_set(f, EINVAL, "rest.ca is for https");
	if (strv_len(d->addresses) == 0)
		return fault_set(f, EINVAL, "rest.addresses must not be empty");
	return 0;
}

static bool has_field(char *const *fields, const char *name, size_t len)
{
	for (; fields && *fields; fields++) {
		const struct rest_field field = rest_field_parse(*fields);

		if (field.len == len && memcmp(field.name, name, len) == 0)
			return true;
	}
	return false;
}

static int check_fields(char *const *fields, const char *key, struct fault *f)
{
	for (; fields && *fields; fields++) {
		const struct rest_field field = rest_field_parse(*fields);

		if (has_field(fields + 1, field.name, field.len))
			return fault_set(f, EINVAL, "%s has '%.*s' twice", key, (int)field.len, field.name);
	}
	return 0;
}

static bool has_param(char *const *fields, const char *name, size_t len)
{
	for (; fields && *fields; fields++) {
		const struct rest_field field = rest_field_parse(*fields);

		if (!field.constant && field.len == len && memcmp(field.name, name, len) == 0)
			return true;
	}
	return false;
}

/* A scope that names no parameter of the request would look like a limit and be none. */
static int check_scope(const struct rest_declaration *d, char *const *scope, struct fault *f)
{
	struct rest_url url;

	if (rest_url_parse(d->url, &url) < 0)
		return fault_set(f, EINVAL, "rest.url cannot be read");
	for (; scope && *scope; scope++) {
		const size_t len = strcspn(*scope, "=");

		if (rest_template_has(d->path, *scope, len) || has_param(d->query, *scope, len) ||
		    has_param(d->body, *scope, len) ||
		    (url.param && url.param_len == len && memcmp(url.param, *scope, len) == 0))
			continue;
		return fault_set(
			f, EINVAL,
			"scope has parameter '%.*s', which is not in rest.path, rest.query, rest.body "
			"or the host",
			(int)len, *scope);
	}
	return 0;
}

int rest_declaration_check(const struct rest_declaration *d, char *const *scope, struct fault *f)
{
	int r;

	if (!d->url || !d->path)
		return fault_set(f, EINVAL, "rest needs url and path");
	if (d->body && (str_eq(d->method, "GET") || str_eq(d->method, "DELETE")))
		return fault_set(f, EINVAL, "rest.body: a request %s has none", d->method);
	r = check_url(d, f);
	if (r == 0)
		r = check_fields(d->query, "rest.query", f);
	if (r == 0)
		r = check_fields(d->body, "rest.body", f);
	return r < 0 ? r : check_scope(d, scope, f);
}

static void put_words(struct jdoc *d, const char *key, char *const *words)
{
	struct jdoc *list = jdoc_set_array(d, key);

	for (; words && *words; words++)
		jdoc_append_string(list, *words);
}

void rest_declaration_describe(const struct rest_declaration *d, struct jdoc *object)
{
	struct jdoc *o = jdoc_set_object(object, "rest");

	jdoc_set_string(o, "url", d->url);
	jdoc_set_string(o, "method", d->method);
	jdoc_set_string(o, "path", d->path);
	put_words(o, "query", d->query);
	put_words(o, "body", d->body);
	put_words(o, "headers", d->headers);
	put_words(o, "reply_headers", d->reply_headers);
	put_words(o, "hosts", d->hosts);
	put_words(o, "addresses", d->addresses);
	jdoc_set_string(o, "header", d->header);
	jdoc_set_string(o, "scheme", d->scheme);
	if (d->credential)
		jdoc_set_string(o, "credential", d->credential);
	if (d->ca)
		jdoc_set_string(o, "ca", d->ca);
}

static void each_field(char *const *fields, bool text,
		       void (*each)(void *arg, const struct rest_place *place), void *arg)
{
	for (; fields && *fields; fields++) {
		const struct rest_field field = rest_field_parse(*fields);
		const struct rest_place place = {
			.name = field.name, .len = field.len, .required = !field.optional, .text = text
		};

		if (!field.constant)
			each(arg, &place);
	}
}

void rest_declaration_each_place(const struct rest_declaration *d,
				 void (*each)(void *arg, const struct rest_place *place), void *arg)
{
	struct rest_place place = { .required = true, .text = true };
	const char *at = d->path ? d->path : "";
	struct rest_part part;
	struct rest_url url;

	if (rest_url_parse(d->url, &url) == 0 && url.param) {
		place.name = url.param;
		place.len = url.param_len;
		each(arg, &place);
	}
	while (rest_template_next(&at, &part)) {
		place.name = part.text;
		place.len = part.len;
		if (part.is_name)
			each(arg, &place);
	}
	each_field(d->query, true, each, arg);
	each_field(d->body, false, each, arg);
}
