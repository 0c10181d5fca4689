/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-pod.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define PODS "/var/lib/kubelet/pods/"
#define EMPTY_DIR "volumes/kubernetes.io~empty-dir/"
#define TOKEN "volumes/kubernetes.io~projected/kube-api-access-"
#define TOKEN_DRAWN 5
#define UID_MIN 32 /* of a static pod; else a UUID with 36 */
#define LOG_DRAWN 8

static bool is_hex(const char *text, size_t len)
{
	return strlen(text) == len && strspn(text, "0123456789abcdef") == len;
}

/* The rest of SOURCE after UID; NULL: elsewhere.  A symbolic link in the path could lead anywhere. */
static const char *find(const char *source, const struct engine_names *names)
{
	size_t len = names->pod_uid ? strlen(names->pod_uid) : 0;
	const char *at = source + strlen(PODS);
	char path[PATH_MAX];

	if (len < UID_MIN || strspn(names->pod_uid, "0123456789abcdef-") != len ||
	    !str_starts(source, PODS) || strncmp(at, names->pod_uid, len) != 0 || at[len] != '/')
		return NULL;
	return realpath(source, path) && strcmp(path, source) == 0 ? at + len + 1 : NULL;
}

/* "containers/NAME/1a2b3c4d": the file; NULL: another path. */
static const char *find_log(const char *rest)
{
	const char *name = rest + strlen("containers/"), *slash;

	if (!str_starts(rest, "containers/"))
		return NULL;
	slash = strchr(name, '/');
	return slash && slash > name && is_hex(slash + 1, LOG_DRAWN) ? slash + 1 : NULL;
}

bool engine_pod_is_made(const char *source, const struct engine_names *names)
{
	const char *rest = find(source, names);

	if (!rest)
		return false;
	if (str_starts(rest, EMPTY_DIR))
		return rest[strlen(EMPTY_DIR)] && !strchr(rest + strlen(EMPTY_DIR), '/');
	return find_log(rest);
}

char *engine_pod_name(const char *source, const struct engine_names *names)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };
	const char *rest = find(source, names), *log = rest ? find_log(rest) : NULL;
	size_t len = rest ? strlen(rest) : 0;

	if (!rest)
		return NULL;
	if (log)
		len = (size_t)(log - rest);
	else if (len == strlen(TOKEN) + TOKEN_DRAWN && str_starts(rest, TOKEN))
		len -= TOKEN_DRAWN;
	strbuf_puts(&t, "(pod)/");
	strbuf_add(&t, rest, len);
	return strbuf_take(&t);
}
