/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/walk.h"
#include "oci/rootfs-etc.h"
#include "oci/rootfs.h"

#define CHUNK ((size_t)16 * 1024)

/* One thing that rootfs_build would make. */
struct rootfs_item {
	char *path;
	size_t path_len;
	mode_t type; /* S_IFDIR, S_IFREG, S_IFLNK */
	char *text;  /* of a file or a link; NULL: what FD holds */
	size_t len;
	int fd; /* the host's file, opened with the rights of who will own the copy */
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

/* ITEM is the list's from the call on. */
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

/* 1: PATH has its directories now and may be added; 0: it is there and shall be. */
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

/* Piece by piece: what is compared need not be held. */
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

static bool same_file(const struct walk_entry *e, const struct rootfs_item *item)
{
	_cleanup_close_ int fd = -EBADF;

	if (e->stx.stx_size != item->len)
		return false;
	fd = openat(e->dirfd, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && same_bytes(fd, item);
}

static bool same_link(const struct walk_entry *e, const struct rootfs_item *item)
{
	_cleanup_free_ char *text = malloc(item->len + 1);
	ssize_t n = text ? readlinkat(e->dirfd, e->name, text, item->len + 1) : -1;

	return n >= 0 && (size_t)n == item->len && memcmp(text, item->text, item->len) == 0;
}

static bool is_same(const struct walk_entry *e, const struct rootfs_item *item, uid_t uid, gid_t gid)
{
	mode_t mode = item->type == S_IFDIR ? 0755 : item->type == S_IFREG ? 0644 : 0777;

	if (e->stx.stx_mode != (item->type | mode) || e->stx.stx_uid != uid || e->stx.stx_gid != gid)
		return false;
	switch (item->type) {
	case S_IFREG:
		return same_file(e, item);
	case S_IFLNK:
		return same_link(e, item);
	default:
		return true;
	}
}

static int refuse(const char *what, const char *path, struct fault *f)
{
	_cleanup_free_ char *shown = str_escape(path);

	return fault_set(f, EPERM,
			 "the bundle's 'rootfs/%s' %s: write the bundle anew: custody bundle --force",
			 shown ? shown : "?", what);
}

static int compare(struct walk *w, struct rootfs_list *l, uid_t uid, gid_t gid, struct fault *f)
{
	const struct rootfs_item root = { .type = S_IFDIR };
	struct walk_entry e;
	int event;

	while ((event = walk_next(w, &e, f)) > WALK_END) {
		struct rootfs_item *item = find(l, e.path, e.path_len);

		if (event == WALK_ERROR)
			return refuse("cannot be read", e.path, f);
		if (event == WALK_LEAVE)
			continue;
		if (!item && e.path_len > 0)
			return refuse("is nothing of custody's", e.path, f);
		if (!is_same(&e, item ? item : &root, uid, gid))
			return refuse("is not as custody writes it today", e.path, f);
		if (item)
			item->seen = true;
	}
	return event;
}

int rootfs_require_same(int dirfd, const struct subject *s, uid_t uid, gid_t gid, struct fault *f)
{
	_cleanup_(list_done) struct rootfs_list l = { 0 };
	_cleanup_walk_ struct walk *w = NULL;
	int r;

	r = rootfs_list(&l, s, uid, gid, f);
	if (r >= 0)
		r = walk_new(dirfd, 0, &w, f);
	if (r >= 0)
		r = compare(w, &l, uid, gid, f);
	for (size_t i = 0; r >= 0 && i < l.n; i++)
		if (!l.items[i].seen)
			r = refuse("is gone", l.items[i].path, f);
	return r;
}
