/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-docker.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "oci/engine/engine-made.h"

#define HOSTCONFIG_MAX ((size_t)1024 * 1024)

/* A program of that name which the caller wrote would be any program. */
static bool is_of_root(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_uid == 0 && !(st.st_mode & 0022);
}

bool engine_docker_is_setkey(const struct jdoc *hook)
{
	const char *path = engine_text(hook, "path");
	char target[PATH_MAX];
	ssize_t n = path && str_starts(path, "/proc/") ? readlink(path, target, sizeof(target) - 1) : -1;

	if (n < 0 || engine_count(hook, "args") == 0 || !is_of_root(path))
		return false;
	target[n] = '\0';
	return str_ends(target, "/dockerd") && engine_is(engine_item(hook, "args", 0), JDOC_STRING) &&
	       str_eq(engine_item(hook, "args", 0)->string, "libnetwork-setkey");
}

/* A file that another user may write proves nothing. */
static char *read_trusted(const char *path, size_t *ret_len)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	char *text;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_mode & 0022)
		return NULL;
	return fd_read_all(fd, HOSTCONFIG_MAX, &text, ret_len, NULL) < 0 ? NULL : text;
}

bool engine_docker_has_no_network(const struct jdoc *config, const struct engine_names *names)
{
	static const struct jdoc_limits limits = { .wide = true };
	_cleanup_free_ char *dir = NULL, *path = NULL, *text = NULL;
	_cleanup_jdoc_ struct jdoc *host = NULL;
	size_t len;

	if (engine_count(config, "hooks.prestart") != 1 ||
	    !engine_docker_is_setkey(engine_item(config, "hooks.prestart", 0)))
		return false;
	dir = engine_made_dir(config, names);
	path = dir ? path_join(dir, "hostconfig.json") : NULL;
	text = path ? read_trusted(path, &len) : NULL;
	if (!text || jdoc_parse(text, len, path, &limits, &host, NULL) < 0)
		return false;
	return str_eq(engine_text(host, "NetworkMode"), "none");
}
