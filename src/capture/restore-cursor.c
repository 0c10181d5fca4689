/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/restore-cursor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/path.h"

void restore_cursor_done(struct restore_cursor *c)
{
	fd_close(c->fd);
	free(c->path);
}

static int go_one(struct restore_cursor *c, const char *name, struct fault *f)
{
	int fd = openat(c->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return fault_errno(f, errno, "'%s'", name);
	fd_close(c->fd);
	c->fd = fd;
	return 0;
}

static int go_down(struct restore_cursor *c, const char *rest, size_t len, struct fault *f)
{
	int r = 0;

	while (r == 0 && len > 0) {
		size_t n = strnlen(rest, len);
		const char *slash = memchr(rest, '/', n);
		char name[256];

		n = slash ? (size_t)(slash - rest) : len;
		if (n >= sizeof(name))
			return fault_set(f, ENAMETOOLONG, "a name in the manifest is too long");
		memcpy(name, rest, n);
		name[n] = '\0';
		r = go_one(c, name, f);
		n += slash != NULL;
		rest += n;
		len -= n;
	}
	return r;
}

static size_t count_slashes(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '/';
	return n;
}

static int go_home(struct restore_cursor *c, struct fault *f)
{
	int fd = openat(c->rootfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return fault_errno(f, errno, "open the target");
	fd_close(c->fd);
	c->fd = fd;
	return 0;
}

int restore_cursor_move(struct restore_cursor *c, const char *path, const char **ret_name, struct fault *f)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0, was = c->path ? strlen(c->path) : 0;
	_cleanup_free_ char *parent = strndup(path, len);
	int r = 0;

	if (!parent)
		return fault_errno(f, ENOMEM, "restore");
	*ret_name = slash ? slash + 1 : path;
	if (c->path && strcmp(c->path, parent) == 0)
		return 0;
	if (c->path && was > 0 && path_is_below(parent, c->path)) {
		r = go_down(c, parent + was + 1, len - was - 1, f);
	} else if (c->path && len > 0 && path_is_below(c->path, parent)) {
		for (size_t up = count_slashes(c->path + len); up > 0 && r == 0; up--)
			r = go_one(c, "..", f);
	} else {
		r = go_home(c, f);
		if (r == 0)
			r = go_down(c, parent, len, f);
	}
	free(c->path);
	c->path = r == 0 ? TAKE_PTR(parent) : NULL;
	return r;
}
