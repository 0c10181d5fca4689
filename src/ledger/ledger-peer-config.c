/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "ledger/ledger-peer-sink.h"
#include "ledger/ledger-peer.h"

#define CONFIG_MAX ((size_t)64 * 1024)
#define PEERS_MAX 16

static int refuse(const struct jdoc *at, struct fault *f, const char *what)
{
	return fault_set(f, EINVAL, "%s:%u:%u: %s", at->origin ? at->origin : PEER_FILE, at->line, at->column,
			 what);
}

static bool is_name(const char *text)
{
	size_t len = text ? strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;

	return len > 0 && len <= 32 && text[len] == '\0';
}

static int require_keys(const struct jdoc *d, struct fault *f)
{
	static const char *const keys[] = { "address", "ca",   "format", "name", "path",
					    "send",    "type", "url",	 NULL };

	for (size_t i = 0; i < d->n_members; i++) {
		size_t k = 0;

		while (keys[k] && strcmp(keys[k], d->members[i].key) != 0)
			k++;
		if (!keys[k] || d->members[i].value->type != JDOC_STRING)
			return refuse(d->members[i].value, f,
				      "a peer has only name, type, path, send, address, format, url and ca, "
				      "all strings");
	}
	return 0;
}

static int read_local(const struct jdoc *d, struct peer *p, struct fault *f)
{
	const char *path = jdoc_get_string(d, "path"), *send = jdoc_get_string(d, "send");

	if (jdoc_get(d, "address") || jdoc_get(d, "format"))
		return refuse(d, f, "address and format belong to types syslog, syslog-tls and https");
	if (jdoc_get(d, "url") || jdoc_get(d, "ca"))
		return refuse(d, f, "url belongs to type https, ca to types syslog-tls and https");
	if (!path || path[0] != '/')
		return refuse(d, f, "path of a peer must be absolute");
	if (send && strcmp(send, "checkpoints") != 0 && strcmp(send, "records") != 0)
		return refuse(d, f, "send of a peer must be checkpoints or records");
	p->records = send && strcmp(send, "records") == 0;
	p->path = strdup(path);
	return p->path ? 0 : fault_errno(f, ENOMEM, "peer");
}

static int read_syslog(const struct jdoc *d, struct peer *p, struct fault *f)
{
	const char *address = jdoc_get_string(d, "address"), *send = jdoc_get_string(d, "send");
	const char *format = jdoc_get_string(d, "format");
	struct sockaddr_storage addr;
	socklen_t len;

	if (jdoc_get(d, "path") || jdoc_get(d, "url") || jdoc_get(d, "ca"))
		return refuse(d, f, "a peer of type syslog has an address, and no path, url or ca");
	if (!address || syslog_address_parse(address, &addr, &len) < 0)
		return refuse(
			d, f,
			"address of a peer must be numbers: \"192.0.2.1:601\" or \"[2001:db8::1]:601\"");
	if (send && strcmp(send, "records") != 0)
		return refuse(d, f, "a peer of type syslog receives records");
	p->format = format ? export_format_parse(format) : EXPORT_CEF;
	if (p->format == EXPORT_NONE)
		return refuse(d, f, "format of a peer must be one of " EXPORT_FORMATS);
	p->records = true;
	p->path = strdup(address);
	return p->path ? 0 : fault_errno(f, ENOMEM, "peer");
}

/* HOST:PORT; the host is a name or a number, and is compared with the certificate. */
static bool is_remote(const char *text)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	uint64_t port;

	return colon && colon > text && colon - text <= 253 && *text != '-' && *text != '.' &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") ==
		       (size_t)(colon - text) &&
	       str_to_u64(colon + 1, &port) == 0 && port >= 1 && port <= UINT16_MAX;
}

static bool is_url(const char *text)
{
	const char *host = text && str_starts(text, "https://") ? text + strlen("https://") : "";
	const size_t len = strcspn(host, "/");

	if (len == 0 || strlen(host) > 1024 || memchr(host, '@', len))
		return false;
	for (; *host; host++)
		if (*host <= ' ' || *host > '~' || strchr("\"<>\\^`{|}#", *host))
			return false;
	return true;
}

static int read_remote(const struct jdoc *d, struct peer *p, struct fault *f)
{
	const bool https = p->type == PEER_HTTPS;
	const char *to = jdoc_get_string(d, https ? "url" : "address"), *ca = jdoc_get_string(d, "ca");
	const char *send = jdoc_get_string(d, "send"), *format = jdoc_get_string(d, "format");

	if (jdoc_get(d, "path") || jdoc_get(d, https ? "address" : "url") ||
	    !(https ? is_url(to) : is_remote(to)))
		return refuse(
			d, f,
			"a peer of type syslog-tls has an address such as \"siem.example.org:6514\", one of "
			"type https a url such as \"https://siem.example.org/in\"");
	if (send && strcmp(send, "records") != 0)
		return refuse(d, f, "a peer of type syslog-tls or https receives records");
	if (ca && ca[0] != '/')
		return refuse(d, f, "ca of a peer must be an absolute path");
	p->format = format ? export_format_parse(format) : https ? EXPORT_JSONL : EXPORT_CEF;
	if (p->format == EXPORT_NONE || (https && p->format == EXPORT_CEF))
		return refuse(d, f, "format of a peer must be one of " EXPORT_FORMATS "; https has no cef");
	p->records = true;
	p->path = strdup(to);
	p->ca = ca ? strdup(ca) : NULL;
	return p->path && (p->ca || !ca) ? 0 : fault_errno(f, ENOMEM, "peer");
}

static int read_peer(const struct jdoc *d, struct peer *p, struct fault *f)
{
	const char *name = jdoc_get_string(d, "name"), *type = jdoc_get_string(d, "type");
	int r;

	if (d->type != JDOC_OBJECT)
		return refuse(d, f, "a peer must be an object with name, type and path or address");
	r = require_keys(d, f);
	if (r < 0)
		return r;
	if (!is_name(name))
		return refuse(d, f, "name of a peer must be 1 to 32 of a-z, 0-9 and '-'");
	p->type = type ? sink_type(type) : PEER_NONE;
	if (p->type == PEER_NONE)
		return refuse(d, f,
			      "type of a peer must be dgram, stream, file, syslog, syslog-tls or https");
	p->name = strdup(name);
	if (!p->name)
		return fault_errno(f, ENOMEM, "peer '%s'", name);
	if (p->type == PEER_TLS || p->type == PEER_HTTPS)
		return read_remote(d, p, f);
	return p->type == PEER_SYSLOG ? read_syslog(d, p, f) : read_local(d, p, f);
}

static int read_peers(const struct jdoc *d, struct peers *ret, struct fault *f)
{
	const struct jdoc *list = jdoc_get(d, "peers");
	int r;

	if (!list || list->type != JDOC_ARRAY || d->n_members != 1)
		return refuse(d, f, "it must be {\"peers\": [...]} and nothing else");
	if (list->n_items > PEERS_MAX)
		return refuse(list, f, "at most 16 peers");
	ret->items = calloc(list->n_items + 1, sizeof(*ret->items));
	if (!ret->items)
		return fault_errno(f, ENOMEM, "peers");
	for (size_t i = 0; i < list->n_items; i++) {
		r = read_peer(list->items[i], &ret->items[ret->n++], f);
		if (r < 0)
			return r;
		for (size_t k = 0; k < i; k++)
			if (strcmp(ret->items[k].name, ret->items[i].name) == 0)
				return refuse(list->items[i], f, "duplicate peer name");
	}
	return 0;
}

int peer_load(const char *state, struct peers *ret, struct fault *f)
{
	_cleanup_free_ char *path = path_join(state, PEER_FILE), *text = NULL;
	_cleanup_close_ int fd = -EBADF;
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_peers_ struct peers p = { 0 };
	size_t len;
	int r;

	if (!path)
		return fault_errno(f, ENOMEM, "path");
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		*ret = p;
		return 0;
	}
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	r = fd_read_all(fd, CONFIG_MAX, &text, &len, f);
	if (r < 0)
		return fault_wrap(f, r, "'%s'", path);
	r = jdoc_parse(text, len, path, &(struct jdoc_limits){ .comments = true }, &d, f);
	if (r == 0)
		r = read_peers(d, &p, f);
	if (r < 0)
		return r;
	*ret = p;
	p = (struct peers){ 0 };
	return 0;
}

void peer_done(struct peers *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->items[i].name);
		free(p->items[i].path);
		free(p->items[i].ca);
	}
	free(p->items);
	*p = (struct peers){ 0 };
}
