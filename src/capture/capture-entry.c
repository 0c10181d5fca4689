/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/capture-entry.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LINK_MAX_LEN 4096
#define XATTR_NAMES_MAX (64 * 1024) /* the kernel's own limits */
#define XATTR_VALUE_MAX (64 * 1024)
#define XATTRS_MAX (1024 * 1024) /* of one entry: some file systems have no limit */

/* The link may have been replaced since its stat: its size is not trusted. */
static int read_link(const struct walk_entry *w, struct manifest_entry *e, struct fault *f)
{
	char target[LINK_MAX_LEN + 1];
	ssize_t n = readlinkat(w->dirfd, w->name, target, LINK_MAX_LEN);

	if (n < 0)
		n = 0;
	target[n] = '\0';
	e->link = strdup(target);
	return e->link ? 0 : fault_errno(f, ENOMEM, "capture");
}

static void set_owner(struct manifest_entry *e, const struct capture_ids *ids)
{
	if (!ids->set)
		return;
	if (e->uid == ids->uid_from)
		e->uid = ids->uid_to;
	if (e->gid == ids->gid_from)
		e->gid = ids->gid_to;
}

static bool is_whiteout(const struct manifest_entry *e, const struct capture_options *o)
{
	return o->upper && e->type == MANIFEST_CHAR && e->rdev_major == 0 && e->rdev_minor == 0;
}

int capture_describe(const struct walk_entry *w, const struct capture_options *o, struct manifest_entry *ret,
		     struct fault *f)
{
	const struct statx *stx = &w->stx;
	_cleanup_manifest_entry_ struct manifest_entry e = {
		.type = manifest_type_of(stx->stx_mode),
		.mode = stx->stx_mode & 07777,
		.uid = stx->stx_uid,
		.gid = stx->stx_gid,
		.size = S_ISREG(stx->stx_mode) ? stx->stx_size : 0,
		.alloc = stx->stx_blocks * 512,
		.mtime_s = stx->stx_mtime.tv_sec,
		.mtime_ns = stx->stx_mtime.tv_nsec,
		.rdev_major = stx->stx_rdev_major,
		.rdev_minor = stx->stx_rdev_minor,
	};
	int r = 0;

	if (!e.type)
		e.type = MANIFEST_UNKNOWN;
	if (is_whiteout(&e, o))
		e.type = MANIFEST_GONE;
	set_owner(&e, &o->ids);
	e.path = strdup(w->path);
	if (!e.path)
		return fault_errno(f, ENOMEM, "capture");
	if (e.type == MANIFEST_LINK)
		r = read_link(w, &e, f);
	if (r < 0)
		return r;
	*ret = e;
	e = (struct manifest_entry){ 0 };
	return 0;
}

int capture_set_why(struct manifest_entry *e, int error, const char *why, struct fault *f)
{
	const char *name = error ? strerrorname_np(error) : NULL;
	char *text;

	if (asprintf(&text, "%s%s%s", name ? name : "", name ? ": " : "", why) < 0)
		return fault_errno(f, ENOMEM, "capture");
	free(e->why);
	e->why = text;
	return 0;
}

/* The same calls for an open file and for a path without following links. */
struct xattr_file {
	int fd;
	const char *path;
};

static ssize_t list_names(const struct xattr_file *b, char *names, size_t room)
{
	return b->path ? llistxattr(b->path, names, room) : flistxattr(b->fd, names, room);
}

static ssize_t get_value(const struct xattr_file *b, const char *name, void *value, size_t room)
{
	return b->path ? lgetxattr(b->path, name, value, room) : fgetxattr(b->fd, name, value, room);
}

static bool add_xattr(struct manifest_entry *e, const char *name, const void *value, size_t len)
{
	struct manifest_xattr *grown = reallocarray(e->xattrs, e->n_xattrs + 1, sizeof(*grown));
	struct manifest_xattr x = { .name = strdup(name), .value = malloc(len + 1), .len = len };

	if (grown)
		e->xattrs = grown;
	if (!grown || !x.name || !x.value) {
		free(x.name);
		free(x.value);
		return false;
	}
	memcpy(x.value, value, len);
	e->xattrs[e->n_xattrs++] = x;
	return true;
}

static int take_xattrs(const struct xattr_file *b, struct manifest_entry *e, struct fault *f)
{
	_cleanup_free_ char *names = NULL;
	_cleanup_free_ void *value = NULL;
	ssize_t n = list_names(b, NULL, 0), sum = 0;

	if (n <= 0) /* no attributes, or not supported by the file system */
		return 0;
	names = malloc(XATTR_NAMES_MAX);
	value = malloc(XATTR_VALUE_MAX);
	if (!names || !value)
		return fault_errno(f, ENOMEM, "capture");
	n = list_names(b, names, XATTR_NAMES_MAX);
	for (ssize_t at = 0; at < n; at += (ssize_t)strlen(names + at) + 1) {
		ssize_t len = get_value(b, names + at, value, XATTR_VALUE_MAX);

		sum += len > 0 ? len : 0;
		if (sum > XATTRS_MAX)
			return capture_set_why(e, 0, "limit: not all extended attributes are kept", f);
		if (len >= 0 && !add_xattr(e, names + at, value, (size_t)len))
			return fault_errno(f, ENOMEM, "capture");
	}
	return 0;
}

int capture_xattrs(int fd, struct manifest_entry *e, struct fault *f)
{
	return take_xattrs(&(struct xattr_file){ .fd = fd }, e, f);
}

int capture_xattrs_at(int dirfd, const char *name, struct manifest_entry *e, struct fault *f)
{
	char path[sizeof("/proc/self/fd//") + 3 * sizeof(int) + 256];

	if ((size_t)snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dirfd, name) >= sizeof(path))
		return 0;
	return take_xattrs(&(struct xattr_file){ .path = path }, e, f);
}

static bool is_reserved(const char *name)
{
	static const char *const whole[] = { "con", "prn", "aux", "nul", "clock$", NULL };
	size_t stem = strcspn(name, ".");

	for (size_t i = 0; whole[i]; i++)
		if (strlen(whole[i]) == stem && strncasecmp(name, whole[i], stem) == 0)
			return true;
	return stem == 4 && (strncasecmp(name, "com", 3) == 0 || strncasecmp(name, "lpt", 3) == 0) &&
	       isdigit((unsigned char)name[3]);
}

static bool is_plain(unsigned char c)
{
	return c < 0x80 && (isalnum(c) || (c && strchr("._-+=@,()", c)));
}

char *capture_encode_name(const char *name)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };
	bool reserved = is_reserved(name);

	for (const char *p = name; *p; p++) {
		bool last_dot = p[1] == '\0' && *p == '.';

		if (is_plain((unsigned char)*p) && !last_dot && !(reserved && p == name))
			strbuf_putc(&out, *p);
		else
			strbuf_printf(&out, "%%%02X", (unsigned char)*p);
	}
	return strbuf_take(&out);
}
