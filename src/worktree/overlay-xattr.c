/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worktree/overlay-xattr.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/array.h"
#include "base/str.h"

void overlay_xattr_done(struct overlay_xattr *m)
{
	free(m->redirect);
	m->redirect = NULL;
}

bool overlay_is_whiteout(const struct statx *stx)
{
	return S_ISCHR(stx->stx_mode) && stx->stx_rdev_major == 0 && stx->stx_rdev_minor == 0;
}

/* It creates a device ".wh..opq" beside its mark of an opaque directory, which has no meaning. */
bool overlay_is_fuse_mark(const char *name, const struct statx *stx, const char **ret_removed)
{
	if (!str_starts(name, OVERLAY_FUSE_MARK))
		return false;
	name += strlen(OVERLAY_FUSE_MARK);
	*ret_removed = S_ISREG(stx->stx_mode) && *name && !str_starts(name, OVERLAY_FUSE_MARK) ? name : NULL;
	return true;
}

/* Length, or -ENODATA: not set. */
static ssize_t get(int fd, enum overlay_xattr_place place, const char *name, void *value, size_t room)
{
	static const char *const places[] = { [OVERLAY_XATTR_USER] = "user.overlay",
					      [OVERLAY_XATTR_TRUSTED] = "trusted.overlay",
					      [OVERLAY_XATTR_FUSE] = "user.fuseoverlayfs" };
	char path[48], full[64];
	ssize_t n;

	(void)snprintf(full, sizeof(full), "%s.%s", places[place], name);
	n = fgetxattr(fd, full, value, room);
	if (n < 0 && errno == EBADF) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = getxattr(path, full, value, room);
	}
	/* user.* exists on files and directories only; a file system without extended attributes has none. */
	if (n < 0 && (errno == EOPNOTSUPP || errno == EPERM))
		return -ENODATA;
	return n < 0 ? -errno : n;
}

static int read_redirect(int fd, enum overlay_xattr_place place, struct overlay_xattr *m)
{
	char text[OVERLAY_REDIRECT_MAX + 1];
	ssize_t n = get(fd, place, "redirect", text, OVERLAY_REDIRECT_MAX);

	if (n == -ENODATA)
		return 0;
	if (n < 0)
		return (int)n;
	text[n] = '\0';
	if (n == 0 || strlen(text) != (size_t)n)
		return -EINVAL;
	m->redirect = strdup(text);
	return m->redirect ? 0 : -ENOMEM;
}

static int read_flags(int fd, enum overlay_xattr_place place, struct overlay_xattr *m)
{
	char byte[64];
	ssize_t n = get(fd, place, "opaque", byte, sizeof(byte));

	if (n >= 0) {
		m->opaque = n == 1 && byte[0] == 'y';
		m->whiteouts = n == 1 && byte[0] == 'x';
	} else if (n != -ENODATA) {
		return (int)n;
	}
	n = get(fd, place, "whiteout", byte, sizeof(byte));
	m->whiteout = n >= 0;
	if (n < 0 && n != -ENODATA)
		return (int)n;
	n = get(fd, place, "metacopy", byte, sizeof(byte));
	m->metacopy = n >= 0;
	return n < 0 && n != -ENODATA ? (int)n : 0;
}

/* Opaque by one of its two attributes, or by a name in the directory; it sets no redirect and no metacopy. */
static int read_fuse(int fd, struct overlay_xattr *m)
{
	static const enum overlay_xattr_place places[] = { OVERLAY_XATTR_USER, OVERLAY_XATTR_FUSE };
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char byte[64];
		ssize_t n = get(fd, places[i], "opaque", byte, sizeof(byte));

		if (n < 0 && n != -ENODATA)
			return (int)n;
		/* The first attribute that exists decides, whatever its value. */
		if (n >= 0) {
			m->opaque = n > 0 && byte[0] == 'y';
			return 0;
		}
	}
	m->opaque = fstatat(fd, OVERLAY_FUSE_OPAQUE, &st, AT_SYMLINK_NOFOLLOW) == 0;
	return 0;
}

int overlay_xattr_read(int fd, enum overlay_xattr_place place, struct overlay_xattr *ret, struct fault *f)
{
	_cleanup_overlay_xattr_ struct overlay_xattr m = { 0 };
	ssize_t n;
	int r;

	r = place == OVERLAY_XATTR_FUSE ? read_fuse(fd, &m) : read_flags(fd, place, &m);
	if (r == 0 && place != OVERLAY_XATTR_FUSE)
		r = read_redirect(fd, place, &m);
	if (r < 0)
		return fault_errno(f, -r, "read overlayfs attributes");
	if (place == OVERLAY_XATTR_FUSE) {
		*ret = m;
		return 0;
	}
	n = get(fd, place, "origin", m.origin, sizeof(m.origin));
	if (n >= 0) {
		m.has_origin = true;
		m.origin_len = (size_t)n;
	}
	*ret = m;
	m.redirect = NULL;
	return 0;
}

/*
 * struct ovl_fb of the kernel: version 0, magic 0xfb, total length, flags, type, 16 bytes of file system
 * UUID, and the file handle.  Another format, or a file system without handles, proves nothing.
 */
enum { TYPE = 4, HANDLE = 21 };

bool overlay_has_origin(const struct overlay_xattr *m)
{
	return m->has_origin && m->origin_len > HANDLE && m->origin[0] == 0 && m->origin[1] == 0xfb &&
	       m->origin[2] == m->origin_len;
}

bool overlay_is_origin(const struct overlay_xattr *m, int dirfd, const char *name)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = { .h.handle_bytes = MAX_HANDLE_SZ };
	int mount_id;

	if (!overlay_has_origin(m))
		return true;
	if (name_to_handle_at(dirfd, name, &u.h, &mount_id, *name ? 0 : AT_EMPTY_PATH) < 0)
		return true;
	/* The kernel pads the handle to whole words. */
	return u.h.handle_type == m->origin[TYPE] && u.h.handle_bytes <= m->origin_len - HANDLE &&
	       memcmp(u.h.f_handle, m->origin + HANDLE, u.h.handle_bytes) == 0;
}
