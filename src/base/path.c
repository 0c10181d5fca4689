/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"

/* The next component of *PATH: its start and length; advances *PATH. False at the end. */
static bool next_part(const char **path, const char **ret_part, size_t *ret_len)
{
	const char *p = *path + strspn(*path, "/");

	*ret_part = p;
	*ret_len = strcspn(p, "/");
	*path = p + *ret_len;
	return *ret_len > 0;
}

static bool part_is(const char *part, size_t len, const char *text)
{
	return strlen(text) == len && memcmp(part, text, len) == 0;
}

int path_normalize(const char *path, char **ret, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	const char *p = path, *part;
	char *text;
	size_t len;

	if (*path != '/')
		return fault_set(f, EINVAL, "path '%s' is not absolute: it must start with '/'", path);
	while (next_part(&p, &part, &len)) {
		if (part_is(part, len, "."))
			continue;
		if (part_is(part, len, ".."))
			return fault_set(f, EINVAL, "path '%s' contains '..': write the path it means", path);
		strbuf_putc(&b, '/');
		strbuf_add(&b, part, len);
	}
	if (b.len == 0)
		strbuf_putc(&b, '/');
	text = strbuf_take(&b);
	if (!text)
		return fault_errno(f, ENOMEM, "path '%s'", path);
	*ret = text;
	return 0;
}

bool path_is_below(const char *path, const char *parent)
{
	size_t len = strlen(parent);

	if (strcmp(parent, "/") == 0)
		return true;
	return strncmp(path, parent, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

char *path_join(const char *dir, const char *name)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_puts(&b, dir);
	if (!str_ends(dir, "/"))
		strbuf_putc(&b, '/');
	strbuf_puts(&b, name);
	return strbuf_take(&b);
}

/*
 * Opens NAME in FD, created if missing. O_PATH: an intermediate directory need not be readable, only
 * searchable.
 */
static int enter(int fd, const char *name, mode_t mode, struct fault *f)
{
	_cleanup_close_ int next = -EBADF;
	struct stat st;

	next = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (next < 0 && errno == ENOENT) {
		if (mkdirat(fd, name, mode) < 0 && errno != EEXIST)
			return fault_errno(f, errno, "create '%s'", name);
		next = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	}
	if (next < 0 || fstat(next, &st) < 0)
		return fault_errno(f, errno, "open '%s'", name);
	if (S_ISLNK(st.st_mode))
		return fault_set(f, ELOOP, "'%s' is a symbolic link: name the directory it points to", name);
	if (!S_ISDIR(st.st_mode))
		return fault_set(f, ENOTDIR, "'%s' is not a directory", name);
	return TAKE_FD(next);
}

static int make_dirs(int dirfd, const char *path, mode_t mode, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	const char *part;
	size_t len;
	int ret;

	fd = openat(dirfd, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open its start");
	while (next_part(&path, &part, &len)) {
		_cleanup_free_ char *name = strndup(part, len);
		int next;

		if (!name)
			return fault_errno(f, ENOMEM, "copy a name");
		if (str_eq(name, "."))
			continue;
		if (str_eq(name, ".."))
			return fault_set(f, EINVAL, "contains '..': write the path it means");
		next = enter(fd, name, mode, f);
		if (next < 0)
			return next;
		fd_close(fd);
		fd = next;
	}
	ret = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret < 0)
		return fault_errno(f, errno, "open for reading");
	return ret;
}

int path_make_dirs(int dirfd, const char *path, mode_t mode, struct fault *f)
{
	int r;

	if (*path == '/' && dirfd != AT_FDCWD)
		return fault_set(f, EINVAL, "create directories '%s': not below the given directory", path);
	r = make_dirs(dirfd, path, mode, f);
	return r < 0 ? fault_wrap(f, r, "create directories '%s'", path) : r;
}
