/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Trees for tests: an odd one that has everything a payload can make, and a portrait that two equal trees share. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/array.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "base/walk.h"

struct tree {
	char path[80];
	int fd;
};

static inline bool tree_make_in(struct tree *t, const char *dir)
{
	(void)snprintf(t->path, sizeof(t->path), "%.40s/custody-tree.XXXXXX", dir);
	t->fd = mkdtemp(t->path) ? open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -EBADF;
	return t->fd >= 0;
}

static inline bool tree_make(struct tree *t)
{
	const char *tmp = getenv("TMPDIR");

	return tree_make_in(t, tmp ? tmp : "/tmp");
}

static inline void tree_done(struct tree *t)
{
	char *slash = strrchr(t->path, '/');
	_cleanup_close_ int fd = -EBADF;

	fd_close(t->fd);
	if (!slash)
		return;
	*slash = '\0';
	fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || path_remove_tree(fd, slash + 1, NULL) < 0)
		printf("# %s was not removed\n", slash + 1);
}
#define _cleanup_tree_ _cleanup_(tree_done)

static inline bool tree_put(int dirfd, const char *name, const char *text, mode_t mode)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd >= 0 && fd_write_all(fd, text, strlen(text), NULL) == 0 && fchmod(fd, mode) == 0;
}

static inline bool tree_put_sparse(int dirfd, const char *name, off_t size)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd >= 0 && ftruncate(fd, size) == 0 && pwrite(fd, "begin", 5, 4096) == 5 &&
	       pwrite(fd, "end", 3, size - 3) == 3;
}

static inline bool tree_put_socket(const struct tree *t, const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if ((size_t)snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", t->path, name) >= sizeof(a.sun_path))
		return false;
	return fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
}

/* Names and links that bite. */
static inline bool tree_put_odd_names(int fd)
{
	static const char *const names[] = { "new\nline", "\xff\xfe", "colon:x",  "dot.",
					     "space ",	  "CON",      "com1.txt", "Case",
					     "case",	  "\x1b[31m", "%41",	  "a\\b",
					     "\"q\"",	  "quo'te",   "*?<>|",	  "\xe2\x80\xae" };
	char longest[256];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!tree_put(fd, names[i], names[i], 0644))
			return false;
	memset(longest, 'n', 255);
	longest[255] = '\0';
	return tree_put(fd, longest, "long", 0600) && symlinkat("/etc/passwd", fd, "absolute") == 0 &&
	       symlinkat("gone", fd, "dangling") == 0 && symlinkat("loop", fd, "loop") == 0 &&
	       symlinkat("\xff", fd, "l\xff") == 0;
}

/* Every kind of file that ROOT, or any user, can create. */
static inline bool tree_make_odd(struct tree *t, bool root)
{
	const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = -1000000000, .tv_nsec = 123456789 } };
	int fd = t->fd;

	if (!tree_put_odd_names(fd) || mkdirat(fd, "d", 0755) < 0 || mkdirat(fd, "d/e", 0700) < 0 ||
	    mkdirat(fd, "empty", 01777) < 0 || !tree_put(fd, "d/e/f", "deep", 0400) ||
	    !tree_put(fd, "old", "old", 0640) || utimensat(fd, "old", old, 0) < 0 ||
	    !tree_put(fd, "none", "", 0))
		return false;
	if (!tree_put(fd, "one", "three names", 0644) || linkat(fd, "one", fd, "d/two", 0) < 0 ||
	    linkat(fd, "one", fd, "d/e/three", 0) < 0 || !tree_put_sparse(fd, "sparse", (off_t)1 << 40) ||
	    mkfifoat(fd, "fifo", 0644) < 0 || !tree_put_socket(t, "socket") ||
	    !tree_put(fd, "suid", "x", 06755))
		return false;
	if (fsetxattr(fd, "user.of-root", "r\0t", 3, 0) < 0 && errno != ENOTSUP)
		return false;
	if (setxattr("/proc/self/cwd", "user.x", "", 0, XATTR_REPLACE) == 0)
		return false;
	if (root && (mknodat(fd, "char", S_IFCHR | 0640, makedev(1, 3)) < 0 ||
		     mknodat(fd, "block", S_IFBLK | 0600, makedev(7, 250)) < 0 ||
		     fchownat(fd, "d/e/f", 1234, 5678, 0) < 0 ||
		     fchownat(fd, "dangling", 1234, 5678, AT_SYMLINK_NOFOLLOW) < 0))
		return false;
	/* Last: the directories' own times. */
	return utimensat(fd, "d/e", old, 0) == 0 && utimensat(fd, "d", old, 0) == 0;
}

/* Data only, each piece with its place. */
static inline void portray_data(struct strbuf *out, int fd, off_t size)
{
	off_t at = 0;

	while (at < size) {
		off_t data = lseek(fd, at, SEEK_DATA), hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);
		_cleanup_free_ char *bytes = NULL;
		char hex[DIGEST_HEX_SIZE];
		struct digest d;

		if (data < 0 || hole <= data || hole - data > 64 << 20)
			break;
		bytes = malloc((size_t)(hole - data));
		if (!bytes || pread(fd, bytes, (size_t)(hole - data), data) < 0)
			break;
		digest_bytes(bytes, (size_t)((hole > size ? size : hole) - data), &d);
		digest_to_hex(&d, hex);
		strbuf_printf(out, " [%lld+%.12s]", (long long)data, hex);
		at = hole;
	}
}

static inline void portray_xattrs(struct strbuf *out, const char *path)
{
	char names[4096], value[4096];
	ssize_t n = llistxattr(path, names, sizeof(names));

	for (ssize_t at = 0; at < n; at += (ssize_t)strlen(names + at) + 1) {
		ssize_t len = lgetxattr(path, names + at, value, sizeof(value));

		strbuf_printf(out, " %s=", names + at);
		for (ssize_t i = 0; i < len; i++)
			strbuf_printf(out, "%02x", (unsigned char)value[i]);
	}
}

/* All that restore --exact promises, as text; WHO: owners too. */
static inline char *tree_portrait(int rootfd, bool who)
{
	_cleanup_walk_ struct walk *w = NULL;
	_cleanup_strbuf_ struct strbuf out = { 0 };
	struct walk_entry e;
	int r;

	if (walk_new(rootfd, WALK_SORTED, &w, NULL) < 0)
		return NULL;
	while ((r = walk_next(w, &e, NULL)) > 0) {
		const struct statx *s = &e.stx;
		char path[512], target[512] = "";

		if (r == WALK_LEAVE)
			continue;
		if (r == WALK_ERROR) {
			strbuf_printf(&out, "%s: %s\n", e.path, e.why);
			continue;
		}
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", e.fd >= 0 ? e.fd : e.dirfd,
			       e.fd >= 0 ? "." : e.name);
		strbuf_printf(&out, "%s %o %u %" PRId64 ".%09u %u:%u", e.path, s->stx_mode,
			      S_ISDIR(s->stx_mode) ? 0 : s->stx_nlink, (int64_t)s->stx_mtime.tv_sec,
			      s->stx_mtime.tv_nsec, s->stx_rdev_major, s->stx_rdev_minor);
		if (who)
			strbuf_printf(&out, " %u:%u", s->stx_uid, s->stx_gid);
		if (S_ISLNK(s->stx_mode) && readlinkat(e.dirfd, e.name, target, sizeof(target) - 1) >= 0)
			strbuf_printf(&out, " -> %s", target);
		if (S_ISREG(s->stx_mode)) {
			_cleanup_close_ int fd = openat(e.dirfd, e.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

			strbuf_printf(&out, " %llu", (unsigned long long)s->stx_size);
			portray_data(&out, fd, (off_t)s->stx_size);
		}
		portray_xattrs(&out, path);
		strbuf_putc(&out, '\n');
	}
	return r == 0 ? strbuf_take(&out) : NULL;
}
