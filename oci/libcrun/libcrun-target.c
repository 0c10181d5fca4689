/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/libcrun/libcrun-target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "oci/libcrun/libcrun-wrap.h"

/*
 * libcrun opens the target of a mount by its path in the root, mounts on the descriptor, and opens the path again for the flags of
 * the mount (read-only, nosuid), for tmpcopyup and for recursive attributes.  Masked and read-only paths are opened by path too.
 * The linker redirects these calls to this file (--wrap, see local.mk).
 *
 * 1. MUST NOT mount on /, /dev, /proc or /sys where the configuration names another place.
 * 2. MUST NOT continue when a path that is opened again is not on the mount that was made there: the flags would be set on
 *    another mount, and a read-only volume would stay writable.
 * 3. MUST look up paths below /dev, /proc and /sys in the file system that was mounted there, not in a directory that took its
 *    name meanwhile: the mask of /proc/kcore must not cover a file of the image.
 *
 * 2 and 3 only after target_watch(), and on kernels that tell the id of a mount (5.8).
 */
#define MOUNTINFO_MAX ((size_t)64 << 20)

/* The process creates one container: one root, and one target at a time. */
static struct {
	bool making;
	bool on;
	bool fresh;   /* `ids` has every mount but the one on the target */
	bool pending; /* the mount on the target has not been seen */
	int rootfd;
	char path[PATH_MAX];
	uint64_t *ids;
	size_t n;
	uint64_t mount; /* the one on the target, when it has been seen */
} watch = { .rootfd = -EBADF };

/* The file systems that are mounted on these directories of watch.rootfd. */
static struct anchor {
	const char *name;
	int fd;
} anchors[] = { { "dev", -EBADF }, { "proc", -EBADF }, { "sys", -EBADF } };

void target_watch(void)
{
	watch.on = true;
}

void target_begin(void)
{
	watch.making = true;
}

void target_end(void)
{
	watch.making = false;
}

/* --- rule 1 ------------------------------------------------------------------------------------------------------ */

/* PATH is relative to the container's root. */
static bool is_reserved(const char *path)
{
	return path_is_below(path, "dev") || path_is_below(path, "proc") || path_is_below(path, "sys");
}

static bool read_path(int fd, char ret[PATH_MAX])
{
	char link[sizeof("/proc/self/fd/") + 11];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, ret, PATH_MAX - 1);
	ret[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

/* FD was opened as PATH in the root DIRFD.  False: a link led to the root itself or to a reserved directory. */
static bool is_where_named(int fd, int dirfd, const char *path)
{
	char root[PATH_MAX], real[PATH_MAX];
	const char *rest;

	/* libcrun names the root itself "." where a user namespace needs it bound on itself. */
	if (!*path || str_eq(path, ".") || is_reserved(path))
		return true;
	if (!read_path(dirfd, root) || !read_path(fd, real) || strncmp(real, root, strlen(root)) != 0)
		return false;
	rest = real + strlen(root);
	rest += strspn(rest, "/");
	return *rest && !is_reserved(rest);
}

/*
 * PATH without a link on the way is where it is named, so the kernel is not asked for two paths: 24 of them were 1 % of a start.
 * Not for parts that begin with a dot: ".." leads to a reserved directory without a link.
 */
static int open_without_link(int dirfd, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS };

	if (!*path || *path == '.' || strstr(path, "/.") || is_reserved(path) || (flags & O_CREAT))
		return -1;
	return (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
}

/*
 * A volume on /proc would show the runtime false labels (CVE-2019-16884), one on /dev would get the container's devices
 * (CVE-2026-41579), one on / would replace the image.
 */
static int refuse_link(const char *path, libcrun_error_t *err)
{
	errno = EPERM;
	return libcrun_make_error(
		err, EPERM, "'%s' of the image is a symbolic link to /, /dev, /proc or /sys; mount elsewhere",
		path);
}

/* --- rule 2 ------------------------------------------------------------------------------------------------------ */

/* 0: the kernel does not tell. */
static uint64_t mount_of(int fd)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &st) < 0 ||
	    !(st.stx_mask & STATX_MNT_ID))
		return 0;
	return st.stx_mnt_id;
}

static int add_id(uint64_t id)
{
	uint64_t *more = reallocarray(watch.ids, watch.n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	watch.ids = more;
	watch.ids[watch.n++] = id;
	return 0;
}

static bool has_id(uint64_t id)
{
	for (size_t i = 0; i < watch.n; i++)
		if (watch.ids[i] == id)
			return true;
	return false;
}

static uint64_t parse_id(const char *digits)
{
	uint64_t id = 0;

	for (; *digits >= '0' && *digits <= '9'; digits++)
		id = id * 10 + (uint64_t)(*digits - '0');
	return id;
}

/* Each line begins with the id of a mount. */
static int read_ids(void)
{
	_cleanup_close_ int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = fd < 0 ? -errno : fd_read_all(fd, MOUNTINFO_MAX, &text, &len, NULL);

	watch.n = 0;
	for (const char *line = r < 0 ? NULL : text; line && *line && r == 0;) {
		r = add_id(parse_id(line));
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return r;
}

/* A mount on / has another directory as the root: libcrun opens it anew (1.28). */
static void drop_anchors(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(anchors); i++)
		anchors[i].fd = fd_close(anchors[i].fd);
}

/*
 * PATH was opened, and something is mounted on it next.  A target whose mount was not seen got it by move_mount: its id is
 * unknown.
 */
static int begin(int rootfd, const char *path)
{
	int r = 0;

	if (!watch.on)
		return 0;
	if (!watch.fresh || watch.pending)
		r = read_ids();
	if (strlen(path) >= sizeof(watch.path))
		r = -ENAMETOOLONG;
	if (r < 0)
		return r;
	watch.fresh = watch.pending = true;
	if (rootfd != watch.rootfd)
		drop_anchors();
	watch.rootfd = rootfd;
	watch.mount = 0;
	memcpy(watch.path, path, strlen(path) + 1);
	return 0;
}

static bool is_target(int rootfd, const char *path)
{
	return watch.on && rootfd == watch.rootfd && str_eq(path, watch.path);
}

/* FD is the target again: on the mount that was made since begin()? */
static bool is_on_new_mount(int fd)
{
	uint64_t id = mount_of(fd);

	if (id == 0)
		return true;
	if (watch.mount != 0)
		return id == watch.mount;
	if (has_id(id) || add_id(id) < 0)
		return false;
	watch.mount = id;
	watch.pending = false;
	return true;
}

/* The kernel gives the id of a mount that is gone to the next one. */
int __wrap_umount2(const char *target, int flags)
{
	watch.fresh = false;
	return __real_umount2(target, flags);
}

/* --- rule 3 ------------------------------------------------------------------------------------------------------ */

static struct anchor *find_anchor(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(anchors); i++)
		if (str_eq(anchors[i].name, name))
			return &anchors[i];
	return NULL;
}

/* PATH below an anchor, and the rest of it in REST; or NULL. */
static const struct anchor *find_above(int rootfd, const char *path, const char **rest)
{
	for (size_t i = 0; i < ARRAY_SIZE(anchors); i++) {
		const struct anchor *a = &anchors[i];
		size_t len = strlen(a->name);

		if (a->fd < 0 || rootfd != watch.rootfd || strncmp(path, a->name, len) != 0 ||
		    path[len] != '/')
			continue;
		*rest = path + len + strspn(path + len, "/");
		/* ".." would stop at the anchor. */
		return **rest && !strstr(*rest, "..") ? a : NULL;
	}
	return NULL;
}

/* Something else is mounted on PATH next. */
static void drop_anchor(const char *path)
{
	struct anchor *a = find_anchor(path);

	if (a)
		a->fd = fd_close(a->fd);
}

static void keep_anchor(const char *path, int fd)
{
	struct anchor *a = find_anchor(path);

	if (a && a->fd < 0 && watch.mount != 0)
		a->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

bool target_is_root(int fd)
{
	return watch.making && (watch.rootfd < 0 || fd == watch.rootfd);
}

int target_reopen(int rootfd, const char *name, int flags)
{
	const struct anchor *a = find_anchor(name);

	if (!a || a->fd < 0 || rootfd != watch.rootfd)
		return -EBADF;
	return openat(a->fd, ".", flags | O_CLOEXEC);
}

/* --- what libcrun calls ------------------------------------------------------------------------------------------ */

static int fail(int fd, int code, const char *path, libcrun_error_t *err)
{
	(void)fd_close(fd);
	errno = code;
	if (code == EPERM)
		return libcrun_make_error(
			err, code,
			"'%s' was exchanged while it was mounted, by a process that shares it: retry", path);
	return libcrun_make_error(err, code, "watch the mounts of '%s'", path);
}

int target_open_plain(int rootfd, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)flags | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, rootfd, path, &how, sizeof(how)), r;

	if (fd < 0 && errno == ENOSYS)
		fd = openat(rootfd, path, flags | O_CLOEXEC);
	if (fd < 0)
		return -1;
	drop_anchor(path);
	r = begin(rootfd, path);
	if (r == 0)
		return fd;
	(void)fd_close(fd);
	errno = -r;
	return -1;
}

/* The target of a mount, created if it is missing; the mount follows, by this descriptor. */
int __wrap_crun_safe_create_and_open_ref_at(bool dir, int dirfd, ROOT_PARAMETERS, const char *path, int mode,
					    libcrun_error_t *err)
{
	const char *name = path + strspn(path, "/"), *rest;
	const struct anchor *a = find_above(dirfd, name, &rest);
	char below[PATH_MAX];
	int fd, r;

	if (a) {
		(void)snprintf(below, sizeof(below), "%s/%s", root, a->name);
		return __real_crun_safe_create_and_open_ref_at(dir, a->fd, ROOT_ARGUMENTS(below), rest, mode,
							       err);
	}
	fd = open_without_link(dirfd, name, O_PATH | O_CLOEXEC);
	if (fd < 0) {
		fd = __real_crun_safe_create_and_open_ref_at(dir, dirfd, ROOT_ARGUMENTS(root), path, mode,
							     err);
		if (fd < 0)
			return fd;
		if (!is_where_named(fd, dirfd, name)) {
			(void)fd_close(fd);
			return refuse_link(path, err);
		}
	}
	drop_anchor(name);
	r = begin(dirfd, name);
	return r < 0 ? fail(fd, -r, path, err) : fd;
}

/* A target again, after its mount; or a masked or read-only path, on which a mount follows. */
static int check_again(int fd, int dirfd, const char *name, int flags, libcrun_error_t *err)
{
	int r = 0;

	if (is_target(dirfd, name)) {
		if (!is_on_new_mount(fd))
			return fail(fd, EPERM, name, err);
		keep_anchor(name, fd);
	} else if (dirfd == watch.rootfd && (flags & O_PATH)) {
		r = begin(dirfd, name);
	}
	return r < 0 ? fail(fd, -r, name, err) : fd;
}

/*
 * libcrun 1.8.1 opens the target of a recursive option (rro) as a directory, also when a file is mounted there.  O_PATH is what
 * mount_setattr(2) needs, and cannot be read or written.
 */
static int open_any(int dirfd, ROOT_PARAMETERS, const char *path, int flags, int mode, libcrun_error_t *err)
{
	int fd = __real_safe_openat(dirfd, ROOT_ARGUMENTS(root), path, flags, mode, err);

	if (fd >= 0 || flags != O_DIRECTORY || !err || !*err || (*err)->status != ENOTDIR)
		return fd;
	(void)libcrun_error_release(err);
	return __real_safe_openat(dirfd, ROOT_ARGUMENTS(root), path, O_PATH, mode, err);
}

int __wrap_safe_openat(int dirfd, ROOT_PARAMETERS, const char *path, int flags, int mode,
		       libcrun_error_t *err)
{
	const char *name = path + strspn(path, "/"), *rest;
	const struct anchor *a = find_above(dirfd, name, &rest);
	char below[PATH_MAX];
	int fd;

	/* The root's dev, before devices are made (1.28). */
	if (flags == OPEN_DEV && str_eq(name, "dev")) {
		fd = target_reopen(dirfd, name, flags);
		if (fd != -EBADF)
			return fd >= 0 ? fd : libcrun_make_error(err, errno, "open /dev of the container");
		flags |= O_NOFOLLOW;
	}
	if (a) {
		(void)snprintf(below, sizeof(below), "%s/%s", root, a->name);
		return open_any(a->fd, ROOT_ARGUMENTS(below), rest, flags, mode, err);
	}
	fd = open_without_link(dirfd, name, flags);
	if (fd >= 0)
		return check_again(fd, dirfd, name, flags, err);
	fd = open_any(dirfd, ROOT_ARGUMENTS(root), path, flags, mode, err);
	if (fd < 0)
		return fd;
	if (!is_where_named(fd, dirfd, name)) {
		(void)fd_close(fd);
		return refuse_link(path, err);
	}
	return check_again(fd, dirfd, name, flags, err);
}
