/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "oci/bundle/rootfs-impl.h"
#include "oci/bundle/rootfs.h"

#define CHUNK ((size_t)16 * 1024)
#define NAMES 2048 /* bytes per read */

/* One entry that rootfs_build would create. */
struct rootfs_item {
	char *path;
	size_t path_len;
	mode_t type; /* S_IFDIR, S_IFREG, S_IFLNK */
	char *text;  /* content of a file, or target of a link; NULL: content of FD */
	size_t len;
	int fd; /* the host's file, opened with the permissions of the copy's owner */
	bool seen;
};

static void item_done(struct rootfs_item *item)
{
	free(item->path);
	free(item->text);
	fd_close(item->fd);
}

static void list_done(struct rootfs_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		item_done(&l->items[i]);
	free(l->items);
}

static struct rootfs_item *find(const struct rootfs_list *l, const char *path, size_t len)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].path_len == len && memcmp(l->items[i].path, path, len) == 0)
			return &l->items[i];
	return NULL;
}

/* Takes ownership of ITEM. */
static int add(struct rootfs_list *l, struct rootfs_item item, struct fault *f)
{
	struct rootfs_item *grown = item.path ? reallocarray(l->items, l->n + 1, sizeof(*grown)) : NULL;

	if (!grown) {
		item_done(&item);
		return fault_errno(f, ENOMEM, "root");
	}
	l->items = grown;
	l->items[l->n++] = item;
	return 0;
}

static int add_parents(struct rootfs_list *l, const char *path, struct fault *f)
{
	int r = 0;

	for (const char *slash = strchr(path, '/'); slash && r >= 0; slash = strchr(slash + 1, '/')) {
		struct rootfs_item parent = { .path_len = (size_t)(slash - path),
					      .type = S_IFDIR,
					      .fd = -EBADF };

		if (find(l, path, parent.path_len))
			continue;
		parent.path = strndup(path, parent.path_len);
		r = add(l, parent, f);
	}
	return r;
}

/* 1: the parents of PATH exist and it may be added; 0: it exists already, as intended. */
static int make_place(struct rootfs_list *l, const char *path, mode_t type, struct fault *f)
{
	const struct rootfs_item *there = find(l, path, strlen(path));
	int r;

	if (there && there->type == S_IFDIR && type == S_IFDIR)
		return 0;
	if (there)
		return fault_errno(f, EEXIST, "create '%s' in the new root", path);
	r = add_parents(l, path, f);
	return r < 0 ? r : 1;
}

int rootfs_list_add(struct rootfs_list *l, const char *path, mode_t type, const char *text, size_t len,
		    struct fault *f)
{
	struct rootfs_item item = { .path_len = strlen(path), .type = type, .len = len, .fd = -EBADF };
	int r;

	r = make_place(l, path, type, f);
	if (r <= 0)
		return r;
	item.path = strdup(path);
	item.text = malloc(len + 1);
	if (!item.text) {
		item_done(&item);
		return fault_errno(f, ENOMEM, "root");
	}
	if (len)
		memcpy(item.text, text, len);
	item.text[len] = '\0';
	return add(l, item, f);
}

int rootfs_list_add_copy(struct rootfs_list *l, const char *path, int fd, size_t len, struct fault *f)
{
	struct rootfs_item item = { .path_len = strlen(path), .type = S_IFREG, .len = len, .fd = fd };
	int r;

	r = make_place(l, path, S_IFREG, f);
	if (r <= 0) {
		item_done(&item);
		return r;
	}
	item.path = strdup(path);
	return add(l, item, f);
}

static bool read_piece(int fd, char *room, size_t len, size_t offset)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = pread(fd, room + have, len - have, (off_t)(offset + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		have += (size_t)n;
	}
	return true;
}

/* In pieces, so that the file need not fit in memory. */
static bool same_bytes(int fd, const struct rootfs_item *item)
{
	char ours[CHUNK], theirs[CHUNK];

	for (size_t at = 0; at < item->len; at += CHUNK) {
		size_t n = item->len - at < CHUNK ? item->len - at : CHUNK;
		const char *want = item->text ? item->text + at : theirs;

		if (!read_piece(fd, ours, n, at) || (!item->text && !read_piece(item->fd, theirs, n, at)) ||
		    memcmp(ours, want, n) != 0)
			return false;
	}
	return true;
}

/* Comparison of the existing tree with the list. */
struct rootfs_walk {
	struct rootfs_list *list;
	uid_t uid;
	gid_t gid;
	struct strbuf path;
};

static bool same_stat(const struct rootfs_walk *c, const struct stat *st, mode_t type)
{
	mode_t mode = type == S_IFDIR ? 0755 : type == S_IFREG ? 0644 : 0777;

	return st->st_mode == (type | mode) && st->st_uid == c->uid && st->st_gid == c->gid;
}

/* Through the open descriptor: the name may refer to another file by now. */
static bool same_file(const struct rootfs_walk *c, int dirfd, const char *name,
		      const struct rootfs_item *item)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && same_stat(c, &st, S_IFREG) &&
	       (size_t)st.st_size == item->len && same_bytes(fd, item);
}

static bool same_link(const struct rootfs_walk *c, int dirfd, const char *name,
		      const struct rootfs_item *item)
{
	char text[PATH_MAX];
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && same_stat(c, &st, S_IFLNK) &&
	       readlinkat(dirfd, name, text, sizeof(text)) == (ssize_t)item->len &&
	       memcmp(text, item->text, item->len) == 0;
}

static int refuse(const char *what, const char *path, struct fault *f)
{
	_cleanup_free_ char *shown = str_escape(path ? path : "");

	return fault_set(f, EPERM,
			 "the bundle's 'rootfs/%s' %s: write the bundle again: custody bundle --force",
			 shown ? shown : "?", what);
}

static int check_dir(struct rootfs_walk *c, int dirfd, const char *name, struct fault *f);

static int check_entry(struct rootfs_walk *c, int dirfd, const char *name, struct fault *f)
{
	struct rootfs_item *item = find(c->list, c->path.text, c->path.len);

	if (!item)
		return refuse("is not part of a root that custody writes", c->path.text, f);
	item->seen = true;
	if (item->type == S_IFDIR)
		return check_dir(c, dirfd, name, f);
	if (item->type == S_IFREG ? same_file(c, dirfd, name, item) : same_link(c, dirfd, name, item))
		return 0;
	return refuse("differs from the file that custody would write now", c->path.text, f);
}

static int check_name(struct rootfs_walk *c, int dirfd, const char *name, struct fault *f)
{
	size_t len = c->path.len;
	int r;

	if (str_eq(name, ".") || str_eq(name, ".."))
		return 0;
	if (len > 0)
		strbuf_putc(&c->path, '/');
	strbuf_puts(&c->path, name);
	r = c->path.broken ? fault_errno(f, ENOMEM, "root") : check_entry(c, dirfd, name, f);
	if (r < 0)
		return r;
	c->path.len = len;
	c->path.text[len] = '\0';
	return 0;
}

/* Only listed directories are entered, so the list bounds the depth. */
static int check_dir(struct rootfs_walk *c, int dirfd, const char *name, struct fault *f)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_Alignas(struct dirent64) char names[NAMES];
	struct stat st;
	ssize_t n;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0 || !same_stat(c, &st, S_IFDIR))
		return refuse("differs from the file that custody would write now", c->path.text, f);
	while ((n = getdents64(fd, names, sizeof(names))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *e = (const struct dirent64 *)(names + at);

			r = check_name(c, fd, e->d_name, f);
			if (r < 0)
				return r;
			at += e->d_reclen;
		}
	return n < 0 ? refuse("cannot be read", c->path.text, f) : 0;
}

int rootfs_require_same(int dirfd, const struct subject *s, uid_t uid, gid_t gid, struct fault *f)
{
	_cleanup_(list_done) struct rootfs_list l = { 0 };
	struct rootfs_walk c = { .list = &l, .uid = uid, .gid = gid };
	int r;

	r = rootfs_list(&l, s, uid, gid, f);
	if (r >= 0)
		r = check_dir(&c, dirfd, ".", f);
	strbuf_done(&c.path);
	for (size_t i = 0; r >= 0 && i < l.n; i++)
		if (!l.items[i].seen)
			r = refuse("is missing", l.items[i].path, f);
	return r;
}
