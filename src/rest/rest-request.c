/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rest/rest-request.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "credential/credential.h"
#include "rest/rest-template.h"

static bool is_field(char *const *fields, const char *name)
{
	for (; fields && *fields; fields++) {
		const struct rest_field field = rest_field_parse(*fields);

		if (!field.constant && strlen(name) == field.len && memcmp(name, field.name, field.len) == 0)
			return true;
	}
	return false;
}

/* Also what another parser could take for a parameter that is known. */
static int refuse_unknown(const struct rest_declaration *d, const struct rest_url *url,
			  const struct jdoc *params, struct fault *f)
{
	for (size_t i = 0; i < params->n_members; i++) {
		const char *name = params->members[i].key;
		const size_t len = strlen(name);

		if (rest_template_has(d->path, name, len) || is_field(d->query, name) ||
		    is_field(d->body, name) ||
		    (url->param && url->param_len == len && memcmp(url->param, name, len) == 0))
			continue;
		return fault_set(f, EINVAL, "the tool has no such parameter: '%.64s'", name);
	}
	return 0;
}

static int make_host(const struct rest_declaration *d, const struct rest_url *url, const struct jdoc *params,
		     char **ret, struct fault *f)
{
	char number[REST_NUMBER_SIZE];
	const char *value = url->host;
	_cleanup_free_ char *host = NULL;
	int r = 0;

	if (url->param)
		r = rest_value_text(params, url->param, url->param_len, number, &value, f);
	if (r < 0)
		return r;
	host = url->param ? strdup(value) : strndup(url->host, url->host_len);
	if (!host)
		return fault_errno(f, ENOMEM, "host");
	if (url->param && !credential_host_fits(d->hosts, host))
		return fault_set(f, EINVAL, "parameter '%.*s' is not one of the tool's hosts",
				 (int)url->param_len, url->param);
	*ret = TAKE_PTR(host);
	return 0;
}

static bool is_left_out(const struct rest_field *field, const struct jdoc *params)
{
	_cleanup_free_ char *name = strndup(field->name, field->len);

	return field->optional && name && !jdoc_get(params, name);
}

static int add_query(const struct rest_declaration *d, const struct jdoc *params, struct strbuf *out,
		     struct fault *f)
{
	char separator = '?';

	for (char *const *text = d->query; text && *text; text++) {
		const struct rest_field field = rest_field_parse(*text);
		char number[REST_NUMBER_SIZE];
		const char *value = field.constant;
		int r = 0;

		if (is_left_out(&field, params))
			continue;
		if (!value)
			r = rest_value_text(params, field.name, field.len, number, &value, f);
		if (r < 0)
			return r;
		strbuf_putc(out, separator);
		strbuf_add(out, field.name, field.len);
		strbuf_putc(out, '=');
		rest_encode(out, value);
		separator = '&';
	}
	return 0;
}

static int add_member(const struct rest_field *field, const struct jdoc *params, struct jdoc *body,
		      struct fault *f)
{
	_cleanup_free_ char *name = strndup(field->name, field->len);
	const struct jdoc *value = name ? jdoc_get(params, name) : NULL;

	if (!name)
		return fault_errno(f, ENOMEM, "body");
	if (field->constant)
		jdoc_set_string(body, name, field->constant);
	else if (value)
		jdoc_set(body, name, jdoc_copy(value));
	else if (!field->optional)
		return fault_set(f, EINVAL, "parameter '%s' is missing", name);
	return 0;
}

static int make_body(const struct rest_declaration *d, const struct jdoc *params, char **ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *body = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r = 0;

	if (!d->body)
		return 0;
	for (char *const *item = d->body; r == 0 && *item; item++) {
		const struct rest_field field = rest_field_parse(*item);

		r = add_member(&field, params, body, f);
	}
	if (r == 0)
		r = jdoc_write(body, JDOC_CANONICAL, &text, f);
	if (r < 0)
		return r;
	*ret = strbuf_take(&text);
	return *ret ? 0 : fault_errno(f, ENOMEM, "body");
}

static int make_url(const struct rest_declaration *d, const struct rest_url *url, const char *host,
		    const struct jdoc *params, char **ret, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	strbuf_printf(&text, "%s://%s:%" PRIu64 "%s", url->tls ? "https" : "http", host, url->port,
		      url->prefix);
	r = rest_template_fill(d->path, params, &text, f);
	if (r == 0)
		r = add_query(d, params, &text, f);
	if (r < 0)
		return r;
	*ret = strbuf_take(&text);
	return *ret ? 0 : fault_errno(f, ENOMEM, "URL");
}

int rest_request_make(const struct rest_declaration *d, const struct jdoc *params, struct rest_request *ret,
		      struct fault *f)
{
	_cleanup_rest_request_ struct rest_request q = { 0 };
	struct rest_url url;
	int r = rest_url_parse(d->url, &url);

	if (r < 0)
		return fault_set(f, -r, "the tool's URL cannot be read");
	q.port = url.port;
	r = refuse_unknown(d, &url, params, f);
	if (r == 0)
		r = make_host(d, &url, params, &q.host, f);
	if (r == 0)
		r = make_url(d, &url, q.host, params, &q.url, f);
	if (r == 0)
		r = make_body(d, params, &q.body, f);
	if (r < 0)
		return r;
	*ret = q;
	q = (struct rest_request){ 0 };
	return 0;
}

void rest_request_done(struct rest_request *q)
{
	free(q->url);
	free(q->host);
	free(q->body);
	*q = (struct rest_request){ 0 };
}

static void put_words(struct jdoc *d, const char *key, char *const *words)
{
	struct jdoc *list = jdoc_set_array(d, key);

	for (; words && *words; words++)
		jdoc_append_string(list, *words);
}

struct jdoc *rest_request_describe(const struct rest_declaration *d, const struct rest_request *q,
				   uint64_t reply_max)
{
	struct jdoc *o = jdoc_new_object();

	jdoc_set_string(o, "method", d->method);
	jdoc_set_string(o, "url", q->url);
	if (q->body)
		jdoc_set_string(o, "body", q->body);
	put_words(o, "headers", d->headers);
	put_words(o, "reply_headers", d->reply_headers);
	put_words(o, "addresses", d->addresses);
	jdoc_set_int(o, "reply_max", (int64_t)reply_max);
	jdoc_set_bool(o, "credential", d->credential != NULL);
	jdoc_set_string(o, "header", d->header);
	jdoc_set_string(o, "scheme", d->scheme);
	if (d->ca)
		jdoc_set_string(o, "ca", d->ca);
	return o;
}
