/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/walk.h"
#include "capture/capture-copy.h"
#include "evidence/evidence-diff-impl.h"

static int read_link(const struct walk_entry *w, struct manifest_entry *e, struct fault *f)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(w->dirfd, w->name, target, sizeof(target) - 1);

	target[n < 0 ? 0 : n] = '\0';
	e->link = strdup(target);
	return e->link ? 0 : fault_errno(f, ENOMEM, "diff");
}

static int describe(const struct walk_entry *w, int event, struct manifest_entry *ret, struct fault *f)
{
	*ret = (struct manifest_entry){
		.path = strdup(w->path),
		.type = w->stx.stx_mask ? manifest_type_of(w->stx.stx_mode) : MANIFEST_UNKNOWN,
		.mode = w->stx.stx_mode & 07777,
		.uid = w->stx.stx_uid,
		.gid = w->stx.stx_gid,
		.size = w->stx.stx_size,
		.rdev_major = w->stx.stx_rdev_major,
		.rdev_minor = w->stx.stx_rdev_minor,
	};
	if (!ret->path)
		return fault_errno(f, ENOMEM, "diff");
	if (event == WALK_ERROR && ret->type != MANIFEST_DIR)
		ret->type = MANIFEST_UNKNOWN;
	return ret->type == MANIFEST_LINK ? read_link(w, ret, f) : 0;
}

/* Where the evidence has a hole, the file must have zeros. */
static bool is_zero(int fd, uint64_t from, uint64_t to, char *buffer)
{
	off_t at = lseek(fd, (off_t)from, SEEK_DATA);

	while (at >= 0 && (uint64_t)at < to) {
		uint64_t left = to - (uint64_t)at;
		ssize_t n = pread(fd, buffer, left < CAPTURE_BUFFER ? (size_t)left : CAPTURE_BUFFER, at);

		if (n <= 0)
			return n == 0;
		for (ssize_t i = 0; i < n; i++)
			if (buffer[i])
				return false;
		at = lseek(fd, at + n, SEEK_DATA);
	}
	return true;
}

static bool has_zero_holes(int fd, const struct manifest_entry *e, char *buffer)
{
	uint64_t at = 0;

	for (size_t i = 0; e->sparse && i < e->n_extents; i++) {
		if (!is_zero(fd, at, e->extents[i].offset, buffer))
			return false;
		at = e->extents[i].offset + e->extents[i].len;
	}
	return !e->sparse || is_zero(fd, at, e->size, buffer);
}

static unsigned int compare_bytes(const struct diff *d, const struct walk_entry *w,
				  const struct manifest_entry *e)
{
	const struct manifest_entry *x = diff_list_content(&d->a, e);
	_cleanup_close_ int fd = -EBADF;
	struct capture_copy copy = { .out = -EBADF,
				     .size = x->size,
				     .extents = x->extents,
				     .n_extents = x->n_extents,
				     .sparse = x->sparse,
				     .buffer = d->buffer };
	struct stat st;

	if (!x->has_digest || x->why)
		return EVIDENCE_UNCLEAR;
	/* It may have been replaced since: do not follow links, do not block on a FIFO. */
	fd = openat(w->dirfd, w->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return EVIDENCE_UNCLEAR;
	copy.in = fd;
	if (capture_copy(&copy, NULL) < 0)
		return EVIDENCE_UNCLEAR;
	return digest_equal(&copy.digest, &x->digest) && has_zero_holes(fd, x, d->buffer) ? 0
											  : EVIDENCE_CONTENT;
}

static bool is_opaque(const struct manifest_entry *e)
{
	for (size_t i = 0; i < e->n_xattrs; i++)
		if (str_ends(e->xattrs[i].name, ".overlay.opaque") ||
		    str_ends(e->xattrs[i].name, ".fuseoverlayfs.opaque"))
			return true;
	return false;
}

/* The run replaced a parent directory of PATH. */
static bool is_hidden(const struct diff *d, const char *path)
{
	_cleanup_free_ char *up = strdup(path);
	char *slash;

	while (up && (slash = strrchr(up, '/'))) {
		const struct manifest_entry *e;

		*slash = '\0';
		e = diff_list_find(&d->a, up);
		if (e && (is_opaque(e) || e->type != MANIFEST_DIR))
			return true;
	}
	return false;
}

/* Entries that differ go to list B; reallocation moves it, so pointers to its items are taken at the end. */
static int compare_entry(struct diff *d, const struct evidence_diff_tree *t, const struct walk_entry *w,
			 int event, struct fault *f)
{
	struct manifest_entry *e = diff_list_find(&d->a, w->path);
	struct manifest_entry old;
	unsigned int what;
	int r;

	if (e)
		d->seen[e - d->a.items] = true;
	else if (t->cut || (t->changes && !is_hidden(d, w->path)))
		return 0;
	r = describe(w, event, &old, f);
	if (r < 0) {
		manifest_entry_done(&old);
		return r;
	}
	what = diff_exists(e) ? diff_compare_metadata(&old, e) : EVIDENCE_REMOVED;
	if (t->elsewhere && w->path_len == 0)
		what &= ~(unsigned int)(EVIDENCE_MODE | EVIDENCE_OWNER);
	if (what == (what & ~(unsigned int)(EVIDENCE_TYPE | EVIDENCE_CONTENT | EVIDENCE_REMOVED)) &&
	    old.type == MANIFEST_FILE)
		what |= compare_bytes(d, w, e);
	if (what == 0) {
		manifest_entry_done(&old);
		return 0;
	}
	/* `id` of an entry of a tree is unused: it holds the change. */
	old.id = what;
	return diff_list_add(&d->b, &old, f);
}

/* The evidence has no contents of this directory. */
static bool is_unknown_below(const struct diff *d, const struct evidence_diff_tree *t,
			     const struct walk_entry *w)
{
	const struct manifest_entry *e = diff_list_find(&d->a, w->path);

	return (w->path_len && strv_has(t->hidden, w->path)) || (e && e->why);
}

int evidence_diff_tree(const struct evidence_diff_tree *t, evidence_diff_told *told, void *arg,
		       struct fault *f)
{
	_cleanup_diff_ struct diff d = { 0 };
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	int r, event;

	r = diff_list_load(t->evidence, &d.a, f);
	if (r < 0)
		return r;
	d.seen = calloc(d.a.n + 1, sizeof(*d.seen));
	d.buffer = malloc(CAPTURE_BUFFER);
	if (!d.seen || !d.buffer)
		return fault_errno(f, ENOMEM, "diff");
	r = walk_new(t->tree, 0, &w, f);
	while (r == 0 && (event = walk_next(w, &e, f)) != WALK_END) {
		if (event < 0)
			return event;
		if (event == WALK_LEAVE)
			continue;
		if (!e.path_len || !strv_has(t->hidden, e.path))
			r = compare_entry(&d, t, &e, event, f);
		else if (diff_list_find(&d.a, e.path))
			d.seen[diff_list_find(&d.a, e.path) - d.a.items] = true;
		if (r == 0 && event == WALK_ENTER && is_unknown_below(&d, t, &e))
			walk_skip(w);
	}
	for (size_t i = 0; r == 0 && i < d.b.n; i++) {
		struct manifest_entry *old = d.b.items + i, *new = diff_list_find(&d.a, old->path);
		unsigned int what = (unsigned int)old->id;

		old->id = 0;
		r = diff_add(&d, what, old, diff_exists(new) ? new : NULL, f);
	}
	for (size_t i = 0; r == 0 && i < d.a.n; i++)
		if (!d.seen[i] && diff_exists(d.a.items + i))
			r = diff_add(&d, EVIDENCE_ADDED, NULL, d.a.items + i, f);
	return r < 0 ? r : diff_report(&d, told, arg);
}
