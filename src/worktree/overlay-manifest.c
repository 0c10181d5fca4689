/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worktree/overlay-manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/tree-at.h"
#include "base/walk.h"
#include "worktree/overlay-xattr.h"

#define HEAD "custody-upper 1\n"
#define ENTRIES_MAX 1000000
#define ATTRS_MAX 65536 /* bytes of names, and of one value: the kernel's own limits */

/* Marks that only tell overlayfs where an entry came from. */
static bool is_listed(const char *name)
{
	return str_starts(name, "user.") &&
	       (!str_starts(name, "user.overlay.") || str_eq(name, "user.overlay.opaque") ||
		str_starts(name, "user.overlay.overlay."));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int put_attr(struct strbuf *b, const char *path, const char *name, char *value, struct fault *f)
{
	ssize_t n = getxattr(path, name, value, ATTRS_MAX);
	char hex[DIGEST_HEX_SIZE];
	struct digest d;

	if (n < 0)
		return fault_errno(f, errno, "attribute '%s'", name);
	digest_bytes(value, (size_t)n, &d);
	digest_to_hex(&d, hex);
	strbuf_printf(b, " %s=%s", hex, name);
	strbuf_putc(b, '\0');
	return 0;
}

/* The file system lists attributes in an order of its own. */
static int put_attrs(struct strbuf *b, int fd, struct fault *f)
{
	_cleanup_free_ char *names = malloc(ATTRS_MAX), *value = malloc(ATTRS_MAX);
	_cleanup_strv_ char **sorted = NULL;
	char path[48];
	ssize_t n;
	int r = 0;

	if (!names || !value)
		return fault_errno(f, ENOMEM, "attributes");
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = listxattr(path, names, ATTRS_MAX);
	if (n < 0)
		return errno == EOPNOTSUPP ? 0 : fault_errno(f, errno, "attributes");
	for (const char *name = names; name < names + n; name += strlen(name) + 1)
		if (is_listed(name) && strv_append(&sorted, name) < 0)
			return fault_errno(f, ENOMEM, "attributes");
	if (sorted)
		qsort(sorted, strv_len(sorted), sizeof(*sorted), by_text);
	for (char **name = sorted; r == 0 && name && *name; name++)
		r = put_attr(b, path, *name, value, f);
	return r;
}

static int put_file(struct strbuf *b, const struct walk_entry *e, struct fault *f)
{
	_cleanup_close_ int fd = tree_open_file(e->dirfd, e->name);
	char hex[DIGEST_HEX_SIZE];
	struct digest d;
	int r;

	if (fd < 0)
		return fault_errno(f, -fd, "open '%s'", e->path);
	r = digest_fd(fd, &d, f);
	if (r < 0)
		return r;
	digest_to_hex(&d, hex);
	strbuf_printf(b, " %s", hex);
	return put_attrs(b, fd, f);
}

static int put_link(struct strbuf *b, const struct walk_entry *e, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	int r = tree_readlink(e->dirfd, e->name, &text);

	if (r < 0)
		return fault_errno(f, -r, "read the link '%s'", e->path);
	strbuf_putc(b, ' ');
	strbuf_add(b, text, strlen(text) + 1);
	return 0;
}

/* "MODE PATH NUL ..." and a newline.  Only the last part of a line may hold any byte, and that one ends with NUL. */
static int put_entry(struct strbuf *b, int event, const struct walk_entry *e, struct fault *f)
{
	int r = 0;

	strbuf_printf(b, "%o ", (unsigned int)e->stx.stx_mode);
	strbuf_add(b, e->path, e->path_len);
	strbuf_putc(b, '\0');
	if (event == WALK_ENTER)
		r = put_attrs(b, e->fd, f);
	else if (S_ISREG(e->stx.stx_mode))
		r = put_file(b, e, f);
	else if (S_ISLNK(e->stx.stx_mode))
		r = put_link(b, e, f);
	else if (S_ISCHR(e->stx.stx_mode) || S_ISBLK(e->stx.stx_mode))
		strbuf_printf(b, " %u:%u", e->stx.stx_rdev_major, e->stx.stx_rdev_minor);
	strbuf_putc(b, '\n');
	return r;
}

int overlay_manifest_digest(int layer, struct digest *ret, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	size_t n = 0;
	int r = walk_new(layer, WALK_SORTED, &w, f);

	strbuf_puts(&b, HEAD);
	while (r >= 0 && (r = walk_next(w, &e, f)) > 0) {
		if (r == WALK_LEAVE)
			continue;
		if (r == WALK_ERROR)
			return fault_errno(f, e.error, "'%s': %s", e.path, e.why);
		if (++n > ENTRIES_MAX)
			return fault_set(f, E2BIG, "more than %d entries", ENTRIES_MAX);
		r = put_entry(&b, r, &e, f);
	}
	if (r < 0)
		return r;
	if (b.broken)
		return fault_errno(f, ENOMEM, "manifest");
	digest_bytes(b.text, b.len, ret);
	return 0;
}
