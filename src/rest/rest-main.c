/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/process.h"
#include "credential/credential.h"
#include "rest/rest-proto.h"
#include "rest/rest-transfer.h"

/* Dynamic: no static libcurl exists with all that it needs, and only tools of kind rest start this. */

/* A value that would begin another header is refused; CR and LF must not get as far as libcurl. */
static int make_credential(const struct jdoc *request, struct secret **ret, struct fault *f)
{
	const char *header = jdoc_get_string(request, "header"), *scheme = jdoc_get_string(request, "scheme");
	_cleanup_secret_ struct secret *value = NULL, *line = NULL;
	const char *bytes;
	int r = secret_read(REST_CREDENTIAL_FD, CREDENTIAL_VALUE_MAX + 2, &value, f);

	if (r < 0)
		return fault_set(f, -r, "the credential cannot be read");
	secret_cut_line_end(value);
	bytes = secret_bytes(value);
	if (secret_len(value) == 0)
		return fault_set(f, EINVAL, "the credential is empty");
	for (size_t i = 0; i < secret_len(value); i++)
		if ((unsigned char)bytes[i] < ' ' || (unsigned char)bytes[i] > '~')
			return fault_set(f, EINVAL, "the credential has bytes that no header can have");
	r = secret_new(CREDENTIAL_VALUE_MAX * 2, &line, f);
	if (r == 0)
		r = secret_add(line, header, strlen(header), f);
	if (r == 0)
		r = secret_add(line, ": ", 2, f);
	if (r == 0 && scheme && *scheme)
		r = secret_add(line, scheme, strlen(scheme), f);
	if (r == 0 && scheme && *scheme)
		r = secret_add(line, " ", 1, f);
	if (r == 0)
		r = secret_add(line, bytes, secret_len(value), f);
	if (r < 0)
		return fault_set(f, -r, "the credential cannot be kept in memory");
	*ret = TAKE_PTR(line);
	return 0;
}

static int copy_words(const struct jdoc *list, char ***ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && list && list->type == JDOC_ARRAY && i < list->n_items; i++)
		if (list->items[i]->type == JDOC_STRING)
			r = strv_append(ret, list->items[i]->string);
	return r;
}

static int read_request(struct jdoc **ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (fd_read_all(STDIN_FILENO, REST_LINE_MAX, &text, &len, NULL) < 0 ||
	    jdoc_parse(text, len, "request", NULL, &d, NULL) < 0 || !jdoc_get_string(d, "url") ||
	    !jdoc_get_string(d, "method") || !jdoc_get_string(d, "header"))
		return fault_set(f, EINVAL, REST_PROGRAM " is started by custody, with a request on stdin");
	*ret = TAKE_PTR(d);
	return 0;
}

/* JSON that custody reads is passed on as it is, other text as a string. */
static struct jdoc *read_body(const struct strbuf *b)
{
	const char *text = b->text ? b->text : "";
	struct jdoc *d = NULL;

	if (jdoc_parse(text, b->len, "body", NULL, &d, NULL) == 0)
		return d;
	return memchr(text, '\0', b->len) || !str_is_utf8(text, b->len) ? NULL : jdoc_new_string(text);
}

static int write_reply(const struct rest_transfer *t, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object(), *body = read_body(&t->body);
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	if (!body)
		return fault_set(f, EINVAL, "the reply is neither JSON nor text");
	jdoc_set_int(d, "status", t->status);
	jdoc_set(d, "headers", jdoc_copy(t->headers));
	jdoc_set(d, "body", TAKE_PTR(body));
	r = jdoc_write(d, JDOC_CANONICAL, &text, f);
	return r < 0 ? r : fd_write_all(STDOUT_FILENO, text.text, text.len, f);
}

static int run(struct fault *f)
{
	_cleanup_rest_transfer_ struct rest_transfer t = { 0 };
	_cleanup_jdoc_ struct jdoc *request = NULL;
	_cleanup_secret_ struct secret *credential = NULL;
	const struct jdoc *max, *with;
	int r = read_request(&request, f);

	if (r < 0)
		return r;
	max = jdoc_get(request, "reply_max");
	with = jdoc_get(request, "credential");
	if (with && with->type == JDOC_BOOL && with->boolean)
		r = make_credential(request, &credential, f);
	if (r < 0)
		return r;
	t.request = request;
	t.credential = credential ? secret_bytes(credential) : NULL;
	t.reply_max = max && max->type == JDOC_INT && max->integer > 0 ? (size_t)max->integer : 0;
	if (copy_words(jdoc_get(request, "addresses"), &t.addresses) < 0 ||
	    copy_words(jdoc_get(request, "reply_headers"), &t.reply_names) < 0)
		return fault_set(f, ENOMEM, "out of memory");
	r = rest_transfer_run(&t, f);
	return r < 0 ? r : write_reply(&t, f);
}

int main(void)
{
	_cleanup_fault_ struct fault f = { 0 };

	/* libcurl's own copies of the header are not locked, but in no core dump. */
	process_forbid_core();
	(void)prctl(PR_SET_DUMPABLE, 0);
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		(void)fault_set(&f, ENOMEM, "libcurl cannot be initialised");
	else if (run(&f) == 0)
		return EXIT_SUCCESS;
	(void)fputs(fault_text(&f), stdout);
	return EXIT_FAILURE;
}
