/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define MOUNTS_MAX 4096 /* each is compared with each */

struct mount {
	char *destination; /* normalized */
	char *type, *source;
	bool bind;
};

struct mounts {
	struct mount *list;
	size_t n;
};

static void mounts_done(struct mounts *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->list[i].destination);
		free(m->list[i].type);
		free(m->list[i].source);
	}
	free(m->list);
}
#define _cleanup_mounts_ _cleanup_(mounts_done)

static int normalize(const char *path, char **ret, struct fault *f)
{
	_cleanup_free_ char *absolute = path_join("/", path);

	if (!absolute)
		return fault_errno(f, ENOMEM, "config.json: mounts");
	return path_normalize(absolute, ret, f);
}

static bool has_bind(struct jspan options)
{
	const char *at = NULL;
	struct jspan item;

	while (jspan_next_item(options, &at, &item) > 0)
		if (jspan_string_is(item, "bind") || jspan_string_is(item, "rbind"))
			return true;
	return false;
}

static int read_mount(struct jspan object, struct mount *m, struct fault *f)
{
	static const char *const keys[] = { "destination", "type", "source", "options" };
	_cleanup_free_ char *destination = NULL;
	struct jspan v[ARRAY_SIZE(keys)];
	int r;

	if (!jspan_is(object, '{') || jspan_get_each(object, keys, ARRAY_SIZE(keys), v) < 0)
		return fault_set(f, EINVAL, "config.json: an entry of 'mounts' cannot be read");
	destination = jspan_string(v[0]);
	if (!destination)
		return fault_set(f, EINVAL, "config.json: a mount has no 'destination'");
	r = normalize(destination, &m->destination, f);
	if (r < 0)
		return fault_wrap(f, r, "config.json: mount '%s'", destination);
	m->type = jspan_string(v[1]);
	m->source = jspan_string(v[2]);
	if ((jspan_is(v[1], '"') && !m->type) || (jspan_is(v[2], '"') && !m->source))
		return fault_set(f, EINVAL, "config.json: mount '%s': 'type' or 'source' cannot be read",
				 destination);
	m->bind = str_eq(m->type, "bind") || has_bind(v[3]);
	return 0;
}

static int read_mounts(struct jspan config, struct mounts *ret, struct fault *f)
{
	struct jspan array, item;
	const char *at = NULL;
	int r = jspan_get(config, "mounts", &array);

	if (r == 0)
		return 0;
	while (r > 0 && (r = jspan_next_item(array, &at, &item)) > 0) {
		struct mount *more = NULL;

		if (ret->n >= MOUNTS_MAX)
			return fault_set(f, E2BIG, "config.json: more than %d mounts", MOUNTS_MAX);
		more = reallocarray(ret->list, ret->n + 1, sizeof(*more));
		if (!more)
			return fault_errno(f, ENOMEM, "config.json: mounts");
		ret->list = more;
		ret->list[ret->n] = (struct mount){ 0 };
		r = read_mount(item, &ret->list[ret->n++], f);
		if (r < 0)
			return r;
		r = 1;
	}
	return r < 0 ? fault_set(f, EINVAL, "config.json: 'mounts' cannot be read") : 0;
}

/* The last of the first N mounts whose destination is the first LEN bytes of PATH. */
static const struct mount *find_cover(const struct mounts *m, size_t n, const char *path, size_t len)
{
	while (n-- > 0)
		if (strlen(m->list[n].destination) == len && !memcmp(m->list[n].destination, path, len))
			return &m->list[n];
	return NULL;
}

/* One component: 1 and its descriptor in *DIR, 0 when nothing of the image is below it, or the refusal. */
static int enter(int *dir, const char *name, const char *path, struct fault *f)
{
	_cleanup_close_ int next = openat(*dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	/* EACCES: without privileges only the container's user namespace can enter; libcrun-confine.c still holds. */
	if (next < 0 && (errno == ENOENT || errno == EACCES))
		return 0;
	if (next < 0 || fstat(next, &st) < 0)
		return fault_errno(f, errno, "rootfs: '%s'", path);
	if (S_ISLNK(st.st_mode))
		return fault_set(f, ELOOP,
				 "'%s' of the image is or passes through a symbolic link, by which files "
				 "of the host would be changed (CVE-2026-47766); replace the link with a "
				 "directory",
				 path);
	(void)fd_close(*dir);
	*dir = TAKE_FD(next);
	return S_ISDIR(st.st_mode);
}

/* PATH (normalized) in the root, below the first N mounts, has no symbolic link. */
static int require_plain(int rootfd, const struct mounts *m, size_t n, const char *path, struct fault *f)
{
	_cleanup_close_ int dir = fcntl(rootfd, F_DUPFD_CLOEXEC, 3);
	int r = dir < 0 ? fault_errno(f, errno, "rootfs") : 1;

	for (const char *at = path + 1; r > 0 && *at;) {
		size_t len = strcspn(at, "/");
		_cleanup_free_ char *name = strndup(at, len);
		const struct mount *cover = find_cover(m, n, path, (size_t)(at - path) + len);

		if (!name)
			return fault_errno(f, ENOMEM, "rootfs");
		/* The file system of a mount that is not a bind is new: no image wrote to it. */
		if (cover && (!cover->bind || !cover->source))
			return 0;
		if (cover) {
			(void)fd_close(dir);
			dir = open(cover->source, O_PATH | O_DIRECTORY | O_CLOEXEC);
			r = dir >= 0;
		} else {
			r = enter(&dir, name, path, f);
		}
		at += len + (at[len] == '/');
	}
	return r < 0 ? r : 0;
}

static bool is_checked(const struct mount *m)
{
	return path_is_below(m->destination, "/dev") || path_is_below(m->destination, "/proc") ||
	       path_is_below(m->destination, "/sys") || str_eq(m->type, "proc") || str_eq(m->type, "sysfs");
}

/* A process that is labelled or limited through /proc must meet the kernel's (CVE-2019-16884). */
static int require_real_proc(const struct mount *m, struct fault *f)
{
	struct statfs fs;

	/* With the option bind libcrun binds the source, whatever the type is. */
	if (!str_eq(m->destination, "/proc") || (str_eq(m->type, "proc") && !m->bind))
		return 0;
	if (m->bind && m->source && statfs(m->source, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC)
		return 0;
	return fault_set(f, EPERM,
			 "config.json: the mount on '/proc' is not a proc file system; "
			 "use \"type\": \"proc\" or bind one");
}

int runtime_rootfs_require(struct jspan config, const char *rootfs, const char *notify, struct fault *f)
{
	static const char *const always[] = { "/dev", "/proc", "/sys" };
	static const char *const devices[] = { "/dev/console", "/dev/null" };
	_cleanup_close_ int rootfd = open(rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_mounts_ struct mounts m = { 0 };
	_cleanup_free_ char *socket = NULL;
	int r;

	if (rootfd < 0)
		return fault_errno(f, errno, "invalid rootfs '%s'", rootfs);
	r = read_mounts(config, &m, f);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(always); i++)
		r = require_plain(rootfd, &m, 0, always[i], f);
	for (size_t i = 0; r == 0 && i < m.n; i++) {
		r = require_real_proc(&m.list[i], f);
		if (r == 0 && is_checked(&m.list[i]))
			r = require_plain(rootfd, &m, i, m.list[i].destination, f);
	}
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(devices); i++)
		r = require_plain(rootfd, &m, m.n, devices[i], f);
	if (r == 0 && notify)
		r = normalize(notify, &socket, f);
	if (r == 0 && socket)
		r = require_plain(rootfd, &m, m.n, socket, f);
	return r < 0 ? fault_wrap(f, r, "rootfs '%s'", rootfs) : 0;
}
