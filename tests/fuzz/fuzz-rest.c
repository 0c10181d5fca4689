/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "credential/credential.h"
#include "rest/rest-request.h"
#include "rest/rest-template.h"

/*
 * Lines: URL, method, path, query, body, hosts (words between blanks), then the parameters of a call.  A request that
 * is made goes to a host of the declaration, has the shape of its path, and is one line of JSON.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LINES 6

static char **split(const char *line, bool (*is)(const char *))
{
	char **words = NULL;

	while (*line) {
		size_t len = strcspn(line, " ");
		_cleanup_free_ char *word = strndup(line, len);

		if (word && is(word) && strv_append(&words, word) < 0)
			abort();
		line += len + (line[len] == ' ');
	}
	return words;
}

static size_t count(const char *text, char c)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == c;
	return n;
}

static void require_path(const char *path, const char *template)
{
	const char *end = path + strcspn(path, "?");
	_cleanup_free_ char *own = strndup(path, (size_t)(end - path));

	if (!own || count(own, '/') != count(template, '/') || strstr(own, "/../") || strstr(own, "/./") ||
	    (*own && (strstr(own, "//") || str_ends(own, "/..") || str_ends(own, "/."))) ||
	    strstr(own, "%2F") || strstr(own, "%5C") || strstr(own, "%25"))
		abort();
	for (const char *at = path; *at; at++)
		if (*at <= ' ' || *at > '~' || strchr("\"<>\\^`{|}#", *at))
			abort();
}

static void require_request(const struct rest_declaration *d, const struct rest_request *q)
{
	_cleanup_strbuf_ struct strbuf origin = { 0 }, line = { 0 };
	_cleanup_jdoc_ struct jdoc *body = NULL, *read = NULL, *o = rest_request_describe(d, q, 1000);
	struct rest_url url;

	if (rest_url_parse(d->url, &url) < 0)
		abort();
	strbuf_printf(&origin, "%s://%s:%u%s", url.tls ? "https" : "http", q->host, (unsigned int)q->port,
		      url.prefix);
	if (!str_starts(q->url, origin.text) || (d->hosts && !credential_host_fits(d->hosts, q->host)))
		abort();
	require_path(q->url + origin.len, d->path);
	if (q->body && jdoc_parse(q->body, strlen(q->body), "body", NULL, &body, NULL) < 0)
		abort();
	if (jdoc_write(o, JDOC_CANONICAL, &line, NULL) < 0 || count(line.text, '\n') != 0 ||
	    jdoc_parse(line.text, line.len, "line", NULL, &read, NULL) < 0 ||
	    !str_eq(jdoc_get_string(read, "url"), q->url))
		abort();
}

static void fill(struct rest_declaration *d, const struct jdoc *params)
{
	_cleanup_rest_request_ struct rest_request q = { 0 };
	_cleanup_fault_ struct fault f = { 0 };

	if (rest_declaration_check(d, NULL, NULL) < 0)
		return;
	if (rest_request_make(d, params, &q, &f) == 0)
		require_request(d, &q);
	else if (!f.code)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *addresses[] = { (char *)"loopback", NULL };
	_cleanup_free_ char *text = strndup((const char *)data, size);
	char *line[LINES], *at = text;
	_cleanup_jdoc_ struct jdoc *params = NULL;
	struct rest_declaration d = { .addresses = addresses,
				      .header = (char *)"Authorization",
				      .scheme = (char *)"" };

	for (size_t i = 0; i < LINES; i++) {
		line[i] = at;
		at += strcspn(at, "\n");
		if (!*at)
			return 0;
		*at++ = '\0';
	}
	if (!rest_is_url(line[0]) || !rest_is_method(line[1]) || !rest_is_path(line[2]) ||
	    jdoc_parse(at, strlen(at), "params", NULL, &params, NULL) < 0 || params->type != JDOC_OBJECT)
		return 0;
	d.url = line[0];
	d.method = line[1];
	d.path = line[2];
	d.query = split(line[3], rest_is_field);
	d.body = split(line[4], rest_is_field);
	d.hosts = split(line[5], credential_host_is_valid);
	fill(&d, params);
	strv_free(d.query);
	strv_free(d.body);
	strv_free(d.hosts);
	return 0;
}
