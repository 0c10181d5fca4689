/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "rest/rest-request.h"
#include "rest/rest-template.h"

#include "tap.h"

static char *public_only[] = { (char *)"public", NULL };
static char *loopback_only[] = { (char *)"loopback", NULL };

static struct jdoc *parse(const char *text)
{
	struct jdoc *d = NULL;

	if (jdoc_parse(text, strlen(text), "params", NULL, &d, NULL) < 0)
		abort();
	return d;
}

static struct rest_declaration comment(void)
{
	static char *body[] = { (char *)"body", (char *)"draft?", (char *)"base=main", NULL };
	static char *query[] = { (char *)"page?", (char *)"state=all open", NULL };

	return (struct rest_declaration){ .url = (char *)"https://api.example.org/v1",
					  .method = (char *)"POST",
					  .path = (char *)"/repos/o/r/issues/{n}/comments",
					  .query = query,
					  .body = body,
					  .addresses = public_only,
					  .header = (char *)"Authorization",
					  .scheme = (char *)"Bearer" };
}

/* 0, or the error; RET_URL and RET_BODY are heap. */
static int make(const struct rest_declaration *d, const char *params, char **ret_url, char **ret_body)
{
	_cleanup_jdoc_ struct jdoc *p = parse(params);
	_cleanup_rest_request_ struct rest_request q = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	int r = rest_request_make(d, p, &q, &f);

	if ((r < 0) != (f.code != 0))
		abort();
	if (r == 0 && ret_url)
		*ret_url = TAKE_PTR(q.url);
	if (r == 0 && ret_body)
		*ret_body = TAKE_PTR(q.body);
	return r;
}

static void ISO_9_a_request_has_its_parameters_in_their_places(void)
{
	const struct rest_declaration d = comment();
	_cleanup_free_ char *url = NULL, *body = NULL;

	CHECK(make(&d, "{\"n\":7,\"body\":\"a \\\"b\\\"\\r\\nX: y\",\"page\":\"1&x=2#?\"}", &url, &body) ==
	      0);
	CHECK(str_eq(url, "https://api.example.org:443/v1/repos/o/r/issues/7/"
			  "comments?page=1%26x%3D2%23%3F&state=all%20open"));
	CHECK(str_eq(body, "{\"base\":\"main\",\"body\":\"a \\\"b\\\"\\r\\nX: y\"}"));
}

static void ISO_9_members_of_a_body_keep_their_type(void)
{
	const struct rest_declaration d = comment();
	_cleanup_free_ char *body = NULL;

	CHECK(make(&d, "{\"n\":\"7\",\"body\":[1,{\"a\":null}],\"draft\":true}", NULL, &body) == 0);
	CHECK(str_eq(body, "{\"base\":\"main\",\"body\":[1,{\"a\":null}],\"draft\":true}"));
}

static void ISO_9_a_parameter_cannot_change_the_path(void)
{
	static const char *const bad[] = { "..",   ".",	       "a/b",	  "/",	  "",
					   "../7", "7/..",     "a\\\\b",  "%2f",  "%2e%2e",
					   "7\\n", "7\\rX: y", "\\u007f", "a..b", "\\u0001" };
	struct rest_declaration d = comment();

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_strbuf_ struct strbuf params = { 0 };

		strbuf_printf(&params, "{\"n\":\"%s\",\"body\":\"b\"}", bad[i]);
		/* "." alone is a segment; in another one it is a character. */
		CHECK(make(&d, params.text, NULL, NULL) == -EINVAL);
	}
	d.path = (char *)"/a/.{n}";
	CHECK(make(&d, "{\"n\":\".\",\"body\":\"b\"}", NULL, NULL) == -EINVAL);
	CHECK(make(&d, "{\"n\":\"x\",\"body\":\"b\"}", NULL, NULL) == 0);
}

static void ISO_9_other_characters_are_percent_encoded(void)
{
	struct rest_declaration d = comment();
	_cleanup_free_ char *url = NULL;

	d.query = NULL;
	CHECK(make(&d, "{\"n\":\"a?b#c d;e@\xc3\xa4\",\"body\":\"b\"}", &url, NULL) == 0);
	CHECK(str_eq(url,
		     "https://api.example.org:443/v1/repos/o/r/issues/a%3Fb%23c%20d%3Be%40%C3%A4/comments"));
}

static void ISO_9_missing_and_unknown_parameters_are_refused(void)
{
	const struct rest_declaration d = comment();

	CHECK(make(&d, "{\"n\":7,\"body\":\"b\"}", NULL, NULL) == 0);
	CHECK(make(&d, "{\"body\":\"b\"}", NULL, NULL) == -EINVAL);
	CHECK(make(&d, "{\"n\":7}", NULL, NULL) == -EINVAL);
	CHECK(make(&d, "{\"n\":7,\"body\":\"b\",\"N\":8}", NULL, NULL) == -EINVAL);
	CHECK(make(&d, "{\"n\":7,\"body\":\"b\",\"more\":1}", NULL, NULL) == -EINVAL);
	/* A constant is no parameter. */
	CHECK(make(&d, "{\"n\":7,\"body\":\"b\",\"base\":\"prod\"}", NULL, NULL) == -EINVAL);
	CHECK(make(&d, "{\"n\":[7],\"body\":\"b\"}", NULL, NULL) == -EINVAL);
	CHECK(make(&d, "{\"n\":null,\"body\":\"b\"}", NULL, NULL) == -EINVAL);
	CHECK(make(&d, "{\"n\":7,\"body\":\"b\",\"page\":{}}", NULL, NULL) == -EINVAL);
	CHECK(make(&d, "{\"n\":7,\"body\":\"b\",\"page\":\"1\\r\\nX: y\"}", NULL, NULL) == -EINVAL);
}

static void LANE_6_a_host_is_one_of_whole_labels(void)
{
	static char *hosts[] = { (char *)"*.example.org", (char *)"forge.test", NULL };
	static const struct {
		const char *host;
		int r;
	} cases[] = {
		{ "a.example.org", 0 },
		{ "a.b.example.org", 0 },
		{ "forge.test", 0 },
		{ "FORGE.test", 0 },
		{ "example.org", -EINVAL },
		{ "badexample.org", -EINVAL },
		{ "forge.test.evil", -EINVAL },
		{ "x.forge.test", -EINVAL },
		{ "forge.test:1", -EINVAL },
		{ "u@forge.test", -EINVAL },
		{ "evil/.example.org", -EINVAL },
		{ "evil#.example.org", -EINVAL },
		{ "*.example.org", -EINVAL },
		{ "", -EINVAL },
		{ "forge.test.", -EINVAL },
	};
	struct rest_declaration d = { .url = (char *)"https://{host}",
				      .method = (char *)"GET",
				      .path = (char *)"/x",
				      .hosts = hosts,
				      .addresses = public_only };

	CHECK(rest_declaration_check(&d, NULL, NULL) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_strbuf_ struct strbuf params = { 0 };

		strbuf_printf(&params, "{\"host\":\"%s\"}", cases[i].host);
		CHECK(make(&d, params.text, NULL, NULL) == cases[i].r);
	}
	d.hosts = NULL;
	CHECK(rest_declaration_check(&d, NULL, NULL) == -EINVAL);
	d.hosts = hosts;
	d.url = (char *)"https://badexample.org";
	CHECK(rest_declaration_check(&d, NULL, NULL) == -EINVAL);
}

static void ISO_9_shapes_of_a_declaration(void)
{
	static const char *const urls[] = { "https://a.b", "https://a.b:8443/x/y", "http://localhost",
					    "https://{h}:1" };
	static const char *const bad_urls[] = { "",
						"ftp://a",
						"https://",
						"https://u@a",
						"https://a:0",
						"https://a:65536",
						"https://a:1x",
						"https://a/",
						"https://a/x/../y",
						"https://a/{x}",
						"https://a?x",
						"https://a#x",
						"https://a b",
						"https://a%2f",
						"https://*.a",
						"https://{}",
						"https://{h",
						"https://{h}x",
						"https://[::1]",
						"HTTPS://a" };
	static const char *const paths[] = { "/", "/a", "/a/", "/a/{b}", "/{b}.json", "/a/{b}-{c}/d:e" };
	static const char *const bad_paths[] = { "",	   "a",	    "//",   "/a//b", "/./a",
						 "/..",	   "/a/..", "/a?b", "/a#b",  "/%2e",
						 "/{",	   "/{}",   "/{a",  "/}",    "/{a}{b}",
						 "/{a b}", "/{1a}", "/a b", "/a\nb", "/{a/b}" };

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++)
		CHECK(rest_is_url(urls[i]));
	for (size_t i = 0; i < ARRAY_SIZE(bad_urls); i++)
		CHECK(!rest_is_url(bad_urls[i]));
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		CHECK(rest_is_path(paths[i]));
	for (size_t i = 0; i < ARRAY_SIZE(bad_paths); i++)
		CHECK(!rest_is_path(bad_paths[i]));
	CHECK(rest_is_field("a") && rest_is_field("a?") && rest_is_field("a=") && rest_is_field("a=b?c"));
	CHECK(!rest_is_field("") && !rest_is_field("?") && !rest_is_field("a?b") && !rest_is_field("a b"));
	CHECK(rest_is_header("Accept: application/json") && !rest_is_header("Accept:x"));
	CHECK(!rest_is_header("X: a\r\nY: b") && !rest_is_header("Host: a") && !rest_is_header("COOKIE: a"));
	CHECK(!rest_is_header("authorization: a") && !rest_is_header("Proxy-Authorization: a"));
	CHECK(rest_is_reply_header("etag") && !rest_is_reply_header("ETag") &&
	      !rest_is_reply_header("set-cookie"));
}

static void ISO_9_a_declaration_that_cannot_be_meant_is_refused(void)
{
	static char *twice[] = { (char *)"a", (char *)"a=1", NULL };
	char *const scope[] = { (char *)"n=issue", NULL }, *const other[] = { (char *)"m=issue", NULL };
	char *const constant[] = { (char *)"base=issue", NULL };
	struct rest_declaration d = comment();

	CHECK(rest_declaration_check(&d, scope, NULL) == 0);
	CHECK(rest_declaration_check(&d, other, NULL) == -EINVAL);
	CHECK(rest_declaration_check(&d, constant, NULL) == -EINVAL);
	d.method = (char *)"GET";
	CHECK(rest_declaration_check(&d, scope, NULL) == -EINVAL);
	d.body = NULL;
	CHECK(rest_declaration_check(&d, scope, NULL) == 0);
	d.query = twice;
	CHECK(rest_declaration_check(&d, scope, NULL) == -EINVAL);
	d.query = NULL;
	d.url = (char *)"http://api.example.org";
	CHECK(rest_declaration_check(&d, scope, NULL) == -EINVAL);
	d.addresses = loopback_only;
	CHECK(rest_declaration_check(&d, scope, NULL) == 0);
	d.ca = (char *)"/ca";
	CHECK(rest_declaration_check(&d, scope, NULL) == -EINVAL);
}

static void ISO_9_every_field_of_a_declaration_is_in_its_digest(void)
{
	struct rest_declaration d = comment();
	_cleanup_jdoc_ struct jdoc *o = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	static char *list[] = { (char *)"l", NULL };

	d.headers = d.reply_headers = d.hosts = list;
	d.credential = (char *)"forge";
	d.ca = (char *)"/ca";
	rest_declaration_describe(&d, o);
	CHECK(jdoc_write(o, JDOC_CANONICAL, &text, NULL) == 0);
	CHECK(str_eq(
		text.text,
		"{\"rest\":{\"addresses\":[\"public\"],\"body\":[\"body\",\"draft?\",\"base=main\"],\"ca\":"
		"\"/ca\","
		"\"credential\":\"forge\",\"header\":\"Authorization\",\"headers\":[\"l\"],\"hosts\":[\"l\"],"
		"\"method\":\"POST\",\"path\":\"/repos/o/r/issues/{n}/comments\","
		"\"query\":[\"page?\",\"state=all open\"],\"reply_headers\":[\"l\"],\"scheme\":\"Bearer\","
		"\"url\":\"https://api.example.org/v1\"}}"));
}

TAP_MAIN(T(ISO_9_a_request_has_its_parameters_in_their_places), T(ISO_9_members_of_a_body_keep_their_type),
	 T(ISO_9_a_parameter_cannot_change_the_path), T(ISO_9_other_characters_are_percent_encoded),
	 T(ISO_9_missing_and_unknown_parameters_are_refused), T(LANE_6_a_host_is_one_of_whole_labels),
	 T(ISO_9_shapes_of_a_declaration), T(ISO_9_a_declaration_that_cannot_be_meant_is_refused),
	 T(ISO_9_every_field_of_a_declaration_is_in_its_digest))
