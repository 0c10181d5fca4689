/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rest/rest-transfer.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/net-address.h"
#include "rest/rest-proto.h"

static void free_list(struct curl_slist **l)
{
	curl_slist_free_all(*l);
}

static void free_easy(CURL **c)
{
	curl_easy_cleanup(*c);
}

void rest_transfer_done(struct rest_transfer *t)
{
	strbuf_done(&t->body);
	jdoc_free(t->headers);
	strv_free(t->addresses);
	strv_free(t->reply_names);
	*t = (struct rest_transfer){ 0 };
}

/* --- called by libcurl -------------------------------------------------------------------------------------------------- */

/* The address that is connected to, whatever the name resolved to before or resolves to later. */
static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
	struct rest_transfer *t = arg;

	if (purpose != CURLSOCKTYPE_IPCXN ||
	    !net_address_fits(t->addresses, net_address_kind(&a->addr, a->addrlen))) {
		t->bad_address = true;
		return CURL_SOCKET_BAD;
	}
	t->bad_address = false;
	return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

static size_t take_body(char *bytes, size_t size, size_t n, void *arg)
{
	struct rest_transfer *t = arg;

	if (size * n > t->reply_max - t->body.len) {
		t->too_large = true;
		return 0;
	}
	strbuf_add(&t->body, bytes, size * n);
	return t->body.broken ? 0 : size * n;
}

static char *take_value(const char *at, size_t len)
{
	while (len && (*at == ' ' || *at == '\t')) {
		at++;
		len--;
	}
	while (len && strchr(" \t\r\n", at[len - 1]))
		len--;
	return len <= REST_REPLY_HEADER_MAX && str_is_utf8(at, len) && !memchr(at, '\0', len)
		       ? strndup(at, len)
		       : NULL;
}

static size_t take_header(char *bytes, size_t size, size_t n, void *arg)
{
	struct rest_transfer *t = arg;
	const size_t len = size * n;
	const char *colon = memchr(bytes, ':', len);

	t->header_bytes += len;
	if (t->header_bytes > REST_REPLY_HEADERS_MAX) {
		t->too_large = true;
		return 0;
	}
	for (char **name = t->reply_names; colon && name && *name; name++) {
		_cleanup_free_ char *value = NULL;

		if (strlen(*name) != (size_t)(colon - bytes) || strncasecmp(bytes, *name, strlen(*name)) != 0)
			continue;
		value = take_value(colon + 1, len - (size_t)(colon + 1 - bytes));
		if (value)
			jdoc_set_string(t->headers, *name, value);
	}
	return len;
}

/* --- the request -------------------------------------------------------------------------------------------------------- */

static int add(struct curl_slist **l, const char *text, struct fault *f)
{
	struct curl_slist *more = curl_slist_append(*l, text);

	if (!more)
		return fault_set(f, ENOMEM, "out of memory");
	*l = more;
	return 0;
}

static int make_headers(const struct rest_transfer *t, struct curl_slist **ret, struct fault *f)
{
	const struct jdoc *list = jdoc_get(t->request, "headers");
	int r = add(ret, "Expect:", f);

	if (r == 0 && jdoc_get_string(t->request, "body"))
		r = add(ret, "Content-Type: application/json", f);
	for (size_t i = 0; r == 0 && list && list->type == JDOC_ARRAY && i < list->n_items; i++)
		r = add(ret, list->items[i]->string, f);
	if (r == 0 && t->credential)
		r = add(ret, t->credential, f);
	return r;
}

/*
 * MUST: verify the certificate and its name; one of two protocols, as the URL says; no redirect, no proxy, no .netrc, no
 * cookies, no compression: the reply's limit counts the bytes that arrive.
 */
static CURLcode set_fixed(CURL *c, const char *url)
{
	CURLcode e = CURLE_OK;

	/* clang-format off */
#define SET(option, value) do { if (e == CURLE_OK) e = curl_easy_setopt(c, option, value); } while (0)
	/* clang-format on */
	SET(CURLOPT_URL, url);
	SET(CURLOPT_PROTOCOLS_STR, str_starts(url, "http://") ? "http" : "https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_PROXY, "");
	SET(CURLOPT_NOPROXY, "*");
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_PATH_AS_IS, 1L);
	SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_USERAGENT, "custody");
	return e;
}

static CURLcode set_request(CURL *c, struct rest_transfer *t, struct curl_slist *headers)
{
	const char *body = jdoc_get_string(t->request, "body"), *ca = jdoc_get_string(t->request, "ca");
	CURLcode e = CURLE_OK;

	if (body) {
		SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
		SET(CURLOPT_POSTFIELDS, body);
	}
	SET(CURLOPT_CUSTOMREQUEST, jdoc_get_string(t->request, "method"));
	if (ca) {
		SET(CURLOPT_CAINFO, ca);
		/* Otherwise the system's certificates would count as well. */
		SET(CURLOPT_CAPATH, NULL);
	}
	SET(CURLOPT_HTTPHEADER, headers);
	SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
	SET(CURLOPT_OPENSOCKETDATA, t);
	SET(CURLOPT_WRITEFUNCTION, take_body);
	SET(CURLOPT_WRITEDATA, t);
	SET(CURLOPT_HEADERFUNCTION, take_header);
	SET(CURLOPT_HEADERDATA, t);
#undef SET
	return e;
}

/* Not libcurl's own text: that has addresses and paths of this host. */
static int explain(const struct rest_transfer *t, CURLcode e, struct fault *f)
{
	if (t->too_large)
		return fault_set(f, EMSGSIZE, "the reply is larger than %zu bytes",
				 t->header_bytes > REST_REPLY_HEADERS_MAX ? (size_t)REST_REPLY_HEADERS_MAX
									  : t->reply_max);
	if (t->bad_address)
		return fault_set(
			f, EACCES,
			"the host has an address of a kind that the tool's rest.addresses does not list");
	switch ((unsigned int)e) {
	case CURLE_COULDNT_RESOLVE_HOST:
		return fault_set(f, ENOENT, "the host's name has no address");
	case CURLE_COULDNT_CONNECT:
		return fault_set(f, ECONNREFUSED, "the host accepts no connection");
	case CURLE_PEER_FAILED_VERIFICATION:
		return fault_set(f, EACCES,
				 "the server's certificate is not valid for this host: nothing was sent");
	case CURLE_SSL_CONNECT_ERROR:
		return fault_set(f, EPROTO, "no encrypted connection with the host: nothing was sent");
	case CURLE_SSL_CACERT_BADFILE:
		return fault_set(
			f, ENOENT,
			"the certificates to verify the server with cannot be read: nothing was sent");
	case CURLE_OUT_OF_MEMORY:
		return fault_set(f, ENOMEM, "out of memory, or the reply has a header that is too large");
	default:
		return fault_set(f, EIO, "the request failed: %s", curl_easy_strerror(e));
	}
}

int rest_transfer_run(struct rest_transfer *t, struct fault *f)
{
	_cleanup_(free_list) struct curl_slist *headers = NULL;
	_cleanup_(free_easy) CURL *c = curl_easy_init();
	CURLcode e;
	int r = make_headers(t, &headers, f);

	t->headers = jdoc_new_object();
	if (r < 0)
		return r;
	if (!c)
		return fault_set(f, ENOMEM, "out of memory");
	e = set_fixed(c, jdoc_get_string(t->request, "url"));
	if (e == CURLE_OK)
		e = set_request(c, t, headers);
	if (e == CURLE_OK)
		e = curl_easy_perform(c);
	if (e == CURLE_OK)
		e = curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &t->status);
	return e == CURLE_OK ? 0 : explain(t, e, f);
}
