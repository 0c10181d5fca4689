/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <curl/curl.h>
#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/json.h"
#include "base/process.h"
#include "ledger/ledger-peer.h"
#include "ledger/peer-proto.h"

#define LOOK_AGAIN_MS 2

/* Dynamic, as custody-rest: no static libcurl exists with all that it needs, and only peers over TLS start this. */
struct line {
	CURL *curl;
	struct curl_slist *headers;
	const char *content_type; /* NULL: a stream */
	struct strbuf held;	  /* https: frames since the last answer */
	struct fault failure;	  /* the first one since then */
};

static bool has_all(const struct line *l, CURLcode e)
{
	return e == CURLE_OK && !l->failure.code;
}

static void note(struct line *l, CURLcode e)
{
	long status = 0;

	if (l->failure.code || e == CURLE_OK)
		return;
	(void)curl_easy_getinfo(l->curl, CURLINFO_RESPONSE_CODE, &status);
	if (e == CURLE_HTTP_RETURNED_ERROR)
		(void)fault_set(&l->failure, EIO, "the peer answered with status %ld", status);
	else
		(void)fault_set(&l->failure, EIO, "%s", curl_easy_strerror(e));
}

static size_t ignore(char *bytes, size_t size, size_t n, void *arg)
{
	(void)bytes;
	(void)arg;
	return size * n;
}

/* MUST: verify the certificate and its name; https alone; no redirect, no proxy.  A status beyond 2xx is a failure. */
static CURLcode configure(struct line *l, const struct jdoc *d)
{
	CURL *c = l->curl;
	const char *ca = jdoc_get_string(d, "ca");
	CURLcode e = CURLE_OK;

	/* clang-format off */
#define SET(option, value) do { if (e == CURLE_OK) e = curl_easy_setopt(c, option, value); } while (0)
	/* clang-format on */
	SET(CURLOPT_URL, jdoc_get_string(d, "url"));
	SET(CURLOPT_PROTOCOLS_STR, "https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_PROXY, "");
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_TIMEOUT_MS, (long)PEER_PUSH_MS);
	SET(CURLOPT_USERAGENT, "custody");
	SET(CURLOPT_WRITEFUNCTION, ignore);
	if (ca) {
		SET(CURLOPT_CAINFO, ca);
		SET(CURLOPT_CAPATH, NULL);
	}
	if (l->content_type) {
		SET(CURLOPT_HTTPHEADER, l->headers);
	} else {
		SET(CURLOPT_CONNECT_ONLY, 1L);
		SET(CURLOPT_SSL_ENABLE_ALPN, 0L);
		if (e == CURLE_OK)
			e = curl_easy_perform(c);
	}
	return e;
}

static CURLcode send_stream(struct line *l, const char *bytes, size_t len)
{
	curl_socket_t fd = CURL_SOCKET_BAD;
	CURLcode e = curl_easy_getinfo(l->curl, CURLINFO_ACTIVESOCKET, &fd);

	while (e == CURLE_OK && len > 0) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		size_t n = 0;

		e = curl_easy_send(l->curl, bytes, len, &n);
		if (e == CURLE_AGAIN) {
			e = poll(&p, 1, PEER_PUSH_MS) > 0 ? CURLE_OK : CURLE_OPERATION_TIMEDOUT;
			continue;
		}
		bytes += n;
		len -= n;
	}
	return e;
}

/* Acknowledged by the other host, which has not hung up; the protocol tells no more. */
static CURLcode confirm_stream(const struct line *l)
{
	const struct timespec pause = { .tv_nsec = LOOK_AGAIN_MS * 1000000 };
	curl_socket_t fd = CURL_SOCKET_BAD;
	CURLcode e = curl_easy_getinfo(l->curl, CURLINFO_ACTIVESOCKET, &fd);
	int waiting = 0;

	for (int left = PEER_PUSH_MS; e == CURLE_OK; left -= LOOK_AGAIN_MS) {
		struct pollfd p = { .fd = fd, .events = POLLRDHUP };

		if (poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLRDHUP | POLLERR)))
			return CURLE_SEND_ERROR;
		if (ioctl(fd, SIOCOUTQ, &waiting) < 0)
			return CURLE_SEND_ERROR;
		if (waiting == 0)
			return CURLE_OK;
		if (left <= 0)
			return CURLE_OPERATION_TIMEDOUT;
		(void)nanosleep(&pause, NULL);
	}
	return e;
}

static CURLcode post(struct line *l, const char *bytes, size_t len)
{
	long status = 0;
	CURLcode e = curl_easy_setopt(l->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);

	if (e == CURLE_OK)
		e = curl_easy_setopt(l->curl, CURLOPT_POSTFIELDS, bytes);
	if (e == CURLE_OK)
		e = curl_easy_perform(l->curl);
	if (e == CURLE_OK)
		e = curl_easy_getinfo(l->curl, CURLINFO_RESPONSE_CODE, &status);
	return e == CURLE_OK && (status < 200 || status > 299) ? CURLE_HTTP_RETURNED_ERROR : e;
}

static CURLcode take_frame(struct line *l, const char *bytes, size_t len)
{
	if (!l->content_type)
		return send_stream(l, bytes, len);
	/* A document for each request, or lines. */
	if (strcmp(l->content_type, "application/json") == 0)
		return post(l, bytes, len);
	strbuf_add(&l->held, bytes, len);
	return l->held.broken ? CURLE_OUT_OF_MEMORY : CURLE_OK;
}

static CURLcode confirm(struct line *l)
{
	CURLcode e;

	if (!l->content_type)
		return confirm_stream(l);
	e = l->held.len ? post(l, l->held.text, l->held.len) : CURLE_OK;
	strbuf_done(&l->held);
	return e;
}

static void answer(struct line *l)
{
	char text[256] = { PEER_ARRIVED };
	size_t len = 1;

	if (l->failure.code) {
		(void)snprintf(text, sizeof(text), "%c%s", PEER_FAILED, fault_text(&l->failure));
		len = strlen(text);
	}
	(void)!send(PEER_SOCKET_FD, text, len, MSG_NOSIGNAL);
	fault_done(&l->failure);
	l->failure = (struct fault){ 0 };
}

static void serve(struct line *l, char *room)
{
	for (;;) {
		ssize_t n = recv(PEER_SOCKET_FD, room, PEER_MESSAGE_MAX, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		/* Behind a frame that is missing nothing may arrive: the peer gets all of them again. */
		if (room[0] == PEER_DATA && has_all(l, CURLE_OK))
			note(l, take_frame(l, room + 1, (size_t)n - 1));
		if (room[0] != PEER_CONFIRM)
			continue;
		if (has_all(l, CURLE_OK))
			note(l, confirm(l));
		answer(l);
	}
}

int main(void)
{
	_cleanup_free_ char *room = malloc(PEER_MESSAGE_MAX);
	_cleanup_jdoc_ struct jdoc *d = NULL;
	struct line l = { 0 };
	ssize_t n;

	process_forbid_core();
	n = room ? recv(PEER_SOCKET_FD, room, PEER_MESSAGE_MAX, 0) : -1;
	if (n <= 0 || jdoc_parse(room, (size_t)n, "request", NULL, &d, NULL) < 0 ||
	    !jdoc_get_string(d, "url"))
		return EXIT_FAILURE;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(l.curl = curl_easy_init()))
		return EXIT_FAILURE;
	l.content_type = jdoc_get_string(d, "content_type");
	if (l.content_type) {
		_cleanup_strbuf_ struct strbuf header = { 0 };

		strbuf_printf(&header, "Content-Type: %s", l.content_type);
		l.headers = header.broken ? NULL : curl_slist_append(NULL, header.text);
		if (!l.headers)
			return EXIT_FAILURE;
	}
	note(&l, configure(&l, d));
	answer(&l);
	serve(&l, room);
	curl_easy_cleanup(l.curl);
	curl_slist_free_all(l.headers);
	return EXIT_SUCCESS;
}
