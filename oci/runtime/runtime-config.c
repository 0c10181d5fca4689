/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "oci/runtime/runtime-labels.h"
#include "oci/runtime/runtime-mounts.h"
#include "oci/runtime/runtime-namespace.h"
#include "oci/runtime/runtime-rootfs.h"
#include "oci/runtime/runtime-types.h"
#include "oci/runtime/runtime-version.h"

/* libcrun's strings end at it: it would read another name than a check that knows the length. */
static bool has_escaped_nul(const char *text, size_t len)
{
	const char *end = text + len;

	for (const char *p = text; (p = memchr(p, '\\', (size_t)(end - p))); p += 2) {
		if (end - p < 2)
			return false;
		if (end - p >= 6 && !memcmp(p, "\\u0000", 6))
			return true;
	}
	return false;
}

int runtime_json_parse(char *text, size_t len, const char *label, struct runtime_json *ret, struct fault *f)
{
	_cleanup_free_ char *own = text;
	struct jspan object;
	int r;

	if (memchr(own, '\0', len) || has_escaped_nul(own, len))
		return fault_set(f, EINVAL, "'%s' contains a NUL byte", label);
	r = jspan_check(own, len, RUNTIME_CONFIG_DEPTH);
	if (r == -E2BIG)
		return fault_set(f, E2BIG, "'%s' is nested more than %d deep", label, RUNTIME_CONFIG_DEPTH);
	if (r < 0 || jspan_root(own, len, &object) < 0 || !jspan_is(object, '{'))
		return fault_set(f, EINVAL, "'%s' is not one complete JSON object", label);
	*ret = (struct runtime_json){ .text = TAKE_PTR(own), .object = object };
	return 0;
}

static int open_json(const char *path, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	struct statfs fs;
	struct stat st;

	/* O_NONBLOCK for FIFOs, and the type is checked after opening, so that the checked file is the one that is read. */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	if (fstat(fd, &st) < 0 || fstatfs(fd, &fs) < 0)
		return fault_errno(f, errno, "stat '%s'", path);
	/* /dev/fd/N of a pipe: the caller writes it now.  A FIFO with a name may wait for a writer for ever. */
	if (S_ISFIFO(st.st_mode) && fs.f_type == PIPEFS_MAGIC && fcntl(fd, F_SETFL, 0) == 0)
		return TAKE_FD(fd);
	if (!S_ISREG(st.st_mode))
		return fault_set(f, EINVAL, "'%s' is not a regular file", path);
	return TAKE_FD(fd);
}

int runtime_json_load(const char *path, struct runtime_json *ret, struct fault *f)
{
	const bool from_stdin = str_eq(path, "-");
	_cleanup_close_ int opened = from_stdin ? -EBADF : open_json(path, f);
	const char *label = from_stdin ? "standard input" : path;
	char *text = NULL;
	size_t len;
	int r;

	if (!from_stdin && opened < 0)
		return opened;
	r = fd_read_all(from_stdin ? STDIN_FILENO : opened, RUNTIME_CONFIG_MAX, &text, &len, f);
	if (r < 0)
		return fault_wrap(f, r, "read '%s'", label);
	return runtime_json_parse(text, len, label, ret, f);
}

void runtime_json_done(struct runtime_json *j)
{
	free(j->text);
	*j = (struct runtime_json){ 0 };
}

static int get_string(struct jspan object, const char *key, char **ret, struct fault *f)
{
	struct jspan value;
	int r = jspan_get(object, key, &value);

	*ret = r > 0 ? jspan_string(value) : NULL;
	if (r < 0 || (r > 0 && !*ret))
		return fault_set(f, EINVAL, "config.json: '%s' must be one string", key);
	return 0;
}

static int require_rootfs(struct jspan config, const char *bundle, const char *notify, struct fault *f)
{
	_cleanup_free_ char *path = NULL, *full = NULL;
	struct jspan root;
	struct stat st;
	int r = jspan_get(config, "root", &root);

	if (r <= 0)
		return fault_set(f, EINVAL, "config.json: missing or repeated 'root'");
	r = get_string(root, "path", &path, f);
	if (r < 0)
		return r;
	if (!path || !*path)
		return fault_set(f, EINVAL, "config.json: missing 'path' in 'root'");
	full = *path == '/' ? strdup(path) : path_join(bundle, path);
	if (!full)
		return fault_errno(f, ENOMEM, "rootfs");
	if (stat(full, &st) < 0)
		return fault_errno(f, errno, "invalid rootfs '%s'", full);
	if (!S_ISDIR(st.st_mode))
		return fault_errno(f, ENOTDIR, "invalid rootfs '%s'", full);
	return runtime_rootfs_require(config, full, notify, f);
}

int runtime_config_require(const struct runtime_json *config, const char *bundle, const char *notify,
			   struct strbuf *ignored, struct fault *f)
{
	bool later;
	int r = runtime_version_require(config->object, &later, f);

	if (r == 0)
		r = require_rootfs(config->object, bundle, notify, f);
	if (r == 0)
		r = runtime_types_require(config->object, later, ignored, f);
	if (r == 0)
		r = runtime_mounts_require(config->object, runtime_libcrun(), f);
	if (r == 0)
		r = runtime_labels_require(config->object, f);
	return r < 0 ? r : runtime_namespace_require(config->object, f);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void runtime_json_blank(struct runtime_json *j, const char *section, const char *name, const char *value)
{
	struct jspan object, key, v;
	const char *at = NULL;
	size_t from, before, to;

	if (jspan_get(j->object, section, &object) <= 0)
		return;
	do
		if (jspan_next_member(object, &at, &key, &v) <= 0)
			return;
	while (!jspan_key_is(key, name));
	if (v.len != strlen(value) || memcmp(v.at, value, v.len) != 0)
		return;
	/* The text ends with the bracket of its object, which stops both loops. */
	from = before = (size_t)(key.at - j->text);
	to = (size_t)(v.at + v.len - j->text);
	while (is_blank(j->text[to]))
		to++;
	while (is_blank(j->text[before - 1]))
		before--;
	if (j->text[to] == ',')
		to++;
	else if (j->text[to] == '}' && j->text[before - 1] == ',')
		j->text[before - 1] = ' ';
	else if (j->text[to] != '}' || j->text[before - 1] != '{')
		return; /* a comment */
	/* Not the blanks before the member: one of them may be the end of a comment. */
	memset(j->text + from, ' ', to - from);
}
