/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-upper.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/array.h"
#include "base/dir.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "oci/engine/engine-impl.h"
#include "oci/engine/engine-mount.h"

#define ENTRIES_MAX 4096
#define DEPTH_MAX 64

struct walk {
	const struct jdoc *config;
	size_t entries;
};

/* An empty file or a directory on which the runtime mounts another one. */
static bool is_mount_point(const struct walk *w, const char *path)
{
	for (size_t i = 0; i < engine_count(w->config, "mounts"); i++) {
		_cleanup_free_ char *target = engine_mount_target(engine_item(w->config, "mounts", i));

		/* /var/run of an image is a link to /run. */
		if (target && (str_eq(target, path) ||
			       (str_starts(target, "/var/run/") && str_eq(target + strlen("/var"), path))))
			return true;
	}
	return str_starts(path, "/dev/");
}

static bool is_mtab(int dir, const char *name, const char *path)
{
	char target[64];
	ssize_t n = strcmp(path, "/etc/mtab") == 0 ? readlinkat(dir, name, target, sizeof(target)) : -1;

	return n == (ssize_t)strlen("/proc/mounts") && memcmp(target, "/proc/mounts", (size_t)n) == 0;
}

/* It hides what the image has there, or shows another directory of the image; fuse-overlayfs has names of its own. */
static bool is_marked(int fd)
{
	static const char *const marks[] = { "trusted.overlay.opaque",	  "user.overlay.opaque",
					     "user.fuseoverlayfs.opaque", "trusted.overlay.redirect",
					     "user.overlay.redirect",	  "user.fuseoverlayfs.redirect" };

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (fgetxattr(fd, marks[i], NULL, 0) > 0)
			return true;
	return false;
}

static bool is_plain_dir(struct walk *w, int fd, const char *path, unsigned int depth);

static bool is_plain_entry(struct walk *w, int dir, const char *name, const char *path, unsigned int depth)
{
	struct stat st;
	int fd;

	if (++w->entries > ENTRIES_MAX || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (S_ISLNK(st.st_mode))
		return is_mtab(dir, name, path);
	if (S_ISREG(st.st_mode))
		return st.st_size == 0 && is_mount_point(w, path);
	if (!S_ISDIR(st.st_mode) || depth == 0)
		return false;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && is_plain_dir(w, fd, path, depth - 1);
}

/* Takes FD. */
static bool is_plain_dir(struct walk *w, int fd, const char *path, unsigned int depth)
{
	_cleanup_dir_ DIR *d = fdopendir(fd);
	const struct dirent *e;
	/* A mount hides the place of its own. */
	bool plain = d != NULL && (!*path || is_mount_point(w, path) || !is_marked(fd));

	if (!d)
		(void)close(fd);
	errno = 0;
	while (plain && (e = readdir(d))) {
		_cleanup_free_ char *below = NULL;

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		below = path_join(path, e->d_name);
		plain = below && is_plain_entry(w, dirfd(d), e->d_name, below, depth);
		errno = 0;
	}
	return plain && errno == 0;
}

bool engine_upper_is_pristine(const char *upper, const struct jdoc *config)
{
	struct walk w = { .config = config };
	int fd = open(upper, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && is_plain_dir(&w, fd, "", DEPTH_MAX);
}
