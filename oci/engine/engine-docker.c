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

#define FILE_MAX ((size_t)1024 * 1024)

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
	return fd_read_all(fd, FILE_MAX, &text, ret_len, NULL) < 0 ? NULL : text;
}

/* NAME in docker's directory of the container; NULL: none, or it cannot be read. */
static struct jdoc *read_file(const struct jdoc *config, const struct engine_names *names, const char *name)
{
	static const struct jdoc_limits limits = { .wide = true };
	_cleanup_free_ char *dir = engine_made_dir(config, names), *path = dir ? path_join(dir, name) : NULL,
			    *text = NULL;
	struct jdoc *d = NULL;
	size_t len;

	text = path ? read_trusted(path, &len) : NULL;
	return text && jdoc_parse(text, len, path, &limits, &d, NULL) == 0 ? d : NULL;
}

bool engine_docker_has_no_network(const struct jdoc *config, const struct engine_names *names)
{
	_cleanup_jdoc_ struct jdoc *host = NULL;

	if (engine_count(config, "hooks.prestart") != 1 ||
	    !engine_docker_is_setkey(engine_item(config, "hooks.prestart", 0)))
		return false;
	host = read_file(config, names, "hostconfig.json");
	return str_eq(engine_text(host, "NetworkMode"), "none");
}

static bool append_from(struct jdoc *argv, const struct jdoc *list, size_t first)
{
	for (size_t i = first; engine_is(list, JDOC_ARRAY) && i < list->n_items; i++) {
		if (!engine_is(list->items[i], JDOC_STRING))
			return false;
		jdoc_append_string(argv, list->items[i]->string);
	}
	return true;
}

/* "CMD-SHELL" is executed by the SHELL of the image. */
static bool append_shell(struct jdoc *argv, const struct jdoc *shell)
{
	if (engine_is(shell, JDOC_ARRAY) && shell->n_items > 0)
		return append_from(argv, shell, 0);
	jdoc_append_string(argv, "/bin/sh");
	jdoc_append_string(argv, "-c");
	return true;
}

struct jdoc *engine_docker_healthcheck(const struct jdoc *config, const struct engine_names *names)
{
	_cleanup_jdoc_ struct jdoc *all = read_file(config, names, "config.v2.json"),
				   *argv = jdoc_new_array();
	const struct jdoc *test = engine_at(all, "Config.Healthcheck.Test"),
			  *kind = engine_is(test, JDOC_ARRAY) && test->n_items > 1 ? test->items[0] : NULL;

	if (!engine_is(kind, JDOC_STRING))
		return NULL;
	if (str_eq(kind->string, "CMD-SHELL") ? !append_shell(argv, engine_at(all, "Config.Shell"))
					      : !str_eq(kind->string, "CMD"))
		return NULL;
	return append_from(argv, test, 1) && !argv->broken ? TAKE_PTR(argv) : NULL;
}
