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

/* One thing that rootfs_build would make. */
struct rootfs_item {
	char *path;
	mode_t type; /* S_IFDIR, S_IFREG, S_IFLNK */
	char *text;  /* of a file or a link */
	size_t len;
	bool seen;
};

static void list_done(struct rootfs_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->items[i].path);
		free(l->items[i].text);
	}
	free(l->items);
}

static struct rootfs_item *find(const struct rootfs_list *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->items[i].path, path) == 0)
			return &l->items[i];
	return NULL;
}

static int add_parents(struct rootfs_list *l, const char *path, struct fault *f)
{
	int r = 0;

	for (const char *slash = strchr(path, '/'); slash && r >= 0; slash = strchr(slash + 1, '/')) {
		_cleanup_free_ char *parent = strndup(path, (size_t)(slash - path));

		if (!parent)
			return fault_errno(f, ENOMEM, "root");
		if (!find(l, parent))
			r = rootfs_list_add(l, parent, S_IFDIR, NULL, 0, f);
	}
	return r;
}

int rootfs_list_add(struct rootfs_list *l, const char *path, mode_t type, const char *text, size_t len,
		    struct fault *f)
{
	const struct rootfs_item *there = find(l, path);
	struct rootfs_item item = { .type = type, .len = len }, *grown;
	int r;

	if (there && there->type == S_IFDIR && type == S_IFDIR)
		return 0;
	if (there)
		return fault_errno(f, EEXIST, "create '%s' in the new root", path);
	r = add_parents(l, path, f);
	if (r < 0)
		return r;
	grown = reallocarray(l->items, l->n + 1, sizeof(*grown));
	if (grown)
		l->items = grown;
	item.path = strdup(path);
	item.text = malloc(len + 1);
	if (!grown || !item.path || !item.text) {
		free(item.path);
		free(item.text);
		return fault_errno(f, ENOMEM, "root");
	}
	if (len)
		memcpy(item.text, text, len);
	item.text[len] = '\0';
	l->items[l->n++] = item;
	return 0;
}

static bool same_file(const struct walk_entry *e, const struct rootfs_item *item)
{
	_cleanup_close_ int fd = openat(e->dirfd, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (e->stx.stx_size != item->len)
		return false;
	return fd >= 0 && fd_read_all(fd, item->len, &text, &len, NULL) == 0 && len == item->len &&
	       memcmp(text, item->text, len) == 0;
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
		struct rootfs_item *item = find(l, e.path);

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
