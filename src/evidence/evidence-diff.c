/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-diff.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/walk.h"
#include "capture/capture-copy.h"
#include "capture/manifest-file.h"
#include "worktree/overlay-xattr.h"

struct list {
	struct manifest_entry *items; /* by path */
	size_t n, room;
	struct manifest_entry **ids; /* those that other names refer to, by id */
	size_t n_ids;
};

static void list_done(struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		manifest_entry_done(l->items + i);
	free(l->items);
	free(l->ids);
}

struct found {
	unsigned int what;
	struct manifest_entry *old, *new; /* of a list */
};

/* Both sides stay in memory: what differs points into them. */
struct diff {
	struct list a, b; /* evidence; the other evidence, or what of the tree differs */
	bool *seen;	  /* per item of A */
	struct found *found;
	size_t n, room;
	void *buffer;
};

static void diff_done(struct diff *d)
{
	list_done(&d->a);
	list_done(&d->b);
	free(d->seen);
	free(d->found);
	free(d->buffer);
}
#define _cleanup_diff_ _cleanup_(diff_done)

const char *evidence_change_name(unsigned int bit)
{
	static const char *const names[EVIDENCE_CHANGES] = { "added", "removed", "type", "modified",
							     "mode",  "owner",	 "link", "unclear" };

	for (unsigned int i = 0; i < EVIDENCE_CHANGES; i++)
		if (bit == 1U << i)
			return names[i];
	return "?";
}

/* Owns E from now on, also when it fails. */
static int add(struct list *l, struct manifest_entry *e, struct fault *f)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 256;
		struct manifest_entry *grown = reallocarray(l->items, room, sizeof(*grown));

		if (!grown) {
			manifest_entry_done(e);
			return fault_errno(f, ENOMEM, "diff");
		}
		l->items = grown;
		l->room = room;
	}
	l->items[l->n++] = *e;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct manifest_entry *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int by_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return by_path(x->old ? x->old : x->new, y->old ? y->old : y->new);
}

static int by_id(const void *a, const void *b)
{
	const struct manifest_entry *x = *(struct manifest_entry *const *)a,
				    *y = *(struct manifest_entry *const *)b;

	return (x->id > y->id) - (x->id < y->id);
}

static int sort(struct list *l, struct fault *f)
{
	if (l->n == 0)
		return 0;
	qsort(l->items, l->n, sizeof(*l->items), by_path);
	l->ids = calloc(l->n, sizeof(struct manifest_entry *));
	if (!l->ids)
		return fault_errno(f, ENOMEM, "diff");
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].id)
			l->ids[l->n_ids++] = l->items + i;
	qsort(l->ids, l->n_ids, sizeof(*l->ids), by_id);
	return 0;
}

/* What fuse-overlayfs leaves in every directory that is new: the attribute beside it says the same. */
static bool is_fuse_mark(const struct manifest_entry *e)
{
	const char *slash = strrchr(e->path, '/'), *name = slash ? slash + 1 : e->path;

	return (e->type == MANIFEST_GONE || (e->type == MANIFEST_FILE && e->size == 0)) &&
	       (str_eq(name, OVERLAY_FUSE_OPAQUE) || str_eq(name, OVERLAY_FUSE_REST));
}

static int load(int evidence, struct list *l, struct fault *f)
{
	_cleanup_manifest_ struct manifest_file *m = NULL;
	int r;

	r = manifest_open(evidence, &m, f);
	while (r >= 0) {
		struct manifest_entry e = { 0 };

		r = manifest_next(m, &e, NULL, f);
		if (r <= 0)
			break;
		if (is_fuse_mark(&e))
			manifest_entry_done(&e);
		else
			r = add(l, &e, f);
	}
	return r < 0 ? r : sort(l, f);
}

static struct manifest_entry *find(const struct list *l, const char *path)
{
	const struct manifest_entry key = { .path = (char *)path };

	return l->n ? bsearch(&key, l->items, l->n, sizeof(*l->items), by_path) : NULL;
}

static int note(struct diff *d, unsigned int what, struct manifest_entry *old, struct manifest_entry *new,
		struct fault *f)
{
	if (d->n == d->room) {
		size_t room = d->room ? 2 * d->room : 64;
		struct found *grown = reallocarray(d->found, room, sizeof(*grown));

		if (!grown)
			return fault_errno(f, ENOMEM, "diff");
		d->found = grown;
		d->room = room;
	}
	d->found[d->n++] = (struct found){ what, old, new };
	return 0;
}

static int tell_all(struct diff *d, evidence_diff_told *told, void *arg)
{
	int r = 0;

	if (d->n)
		qsort(d->found, d->n, sizeof(*d->found), by_found);
	for (size_t i = 0; r == 0 && i < d->n; i++) {
		const struct found *x = d->found + i;

		r = told(arg, &(struct evidence_difference){ .path = x->old ? x->old->path : x->new->path,
							     .what = x->what,
							     .old = x->old,
							     .new = x->new });
	}
	return r;
}

/* Where the bytes of a file with several names are told of. */
static const struct manifest_entry *source_of(const struct list *l, const struct manifest_entry *e)
{
	struct manifest_entry key = { .id = e->same }, *at = &key, **found;

	if (!e->same || !l->n_ids)
		return e;
	found = bsearch(&at, l->ids, l->n_ids, sizeof(*l->ids), by_id);
	return found ? *found : e;
}

/* All but the bytes of files. */
static unsigned int compare_outside(const struct manifest_entry *a, const struct manifest_entry *b)
{
	unsigned int what = 0;

	if (a->type != b->type)
		return EVIDENCE_TYPE;
	if (a->type == MANIFEST_UNKNOWN)
		return EVIDENCE_UNCLEAR;
	if (a->type != MANIFEST_LINK && a->mode != b->mode)
		what |= EVIDENCE_MODE;
	if (a->uid != b->uid || a->gid != b->gid)
		what |= EVIDENCE_OWNER;
	if (!str_eq(a->link, b->link))
		what |= EVIDENCE_LINK;
	if (a->rdev_major != b->rdev_major || a->rdev_minor != b->rdev_minor ||
	    (a->type == MANIFEST_FILE && a->size != b->size))
		what |= EVIDENCE_CONTENT;
	return what;
}

static bool has_same_extents(const struct manifest_entry *a, const struct manifest_entry *b)
{
	return a->sparse == b->sparse && a->n_extents == b->n_extents &&
	       (a->n_extents == 0 || memcmp(a->extents, b->extents, a->n_extents * sizeof(*a->extents)) == 0);
}

static unsigned int compare_kept(const struct diff *d, const struct manifest_entry *a,
				 const struct manifest_entry *b)
{
	unsigned int what = compare_outside(a, b);
	const struct manifest_entry *x, *y;

	if (a->type != MANIFEST_FILE || what & (EVIDENCE_TYPE | EVIDENCE_CONTENT))
		return what;
	x = source_of(&d->a, a);
	y = source_of(&d->b, b);
	if (!x->has_digest || !y->has_digest || x->why || y->why || !has_same_extents(x, y))
		return what | EVIDENCE_UNCLEAR;
	return digest_equal(&x->digest, &y->digest) ? what : what | EVIDENCE_CONTENT;
}

static bool is_there(const struct manifest_entry *e)
{
	return e && e->type != MANIFEST_GONE;
}

int evidence_diff(int evidence, int other, evidence_diff_told *told, void *arg, struct fault *f)
{
	_cleanup_diff_ struct diff d = { 0 };
	int r;

	r = load(evidence, &d.a, f);
	if (r == 0)
		r = load(other, &d.b, f);
	for (size_t i = 0; r == 0 && i < d.a.n; i++) {
		struct manifest_entry *a = d.a.items + i, *b = find(&d.b, a->path);
		unsigned int what = 0;

		if (is_there(a) && is_there(b))
			what = compare_kept(&d, a, b);
		else if (is_there(a) || is_there(b))
			what = is_there(a) ? EVIDENCE_REMOVED : EVIDENCE_ADDED;
		if (what)
			r = note(&d, what, is_there(a) ? a : NULL, is_there(b) ? b : NULL, f);
	}
	for (size_t i = 0; r == 0 && i < d.b.n; i++)
		if (is_there(d.b.items + i) && !find(&d.a, d.b.items[i].path))
			r = note(&d, EVIDENCE_ADDED, NULL, d.b.items + i, f);
	return r < 0 ? r : tell_all(&d, told, arg);
}

/* --- a tree that is there ----------------------------------------------------------------------------------------- */

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

/* Data where the evidence has a hole: zeros, or it is another file. */
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

static bool has_same_holes(int fd, const struct manifest_entry *e, char *buffer)
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
	const struct manifest_entry *x = source_of(&d->a, e);
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
	/* It may have become something else since: never follow, never wait. */
	fd = openat(w->dirfd, w->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return EVIDENCE_UNCLEAR;
	copy.in = fd;
	if (capture_copy(&copy, NULL) < 0)
		return EVIDENCE_UNCLEAR;
	return digest_equal(&copy.digest, &x->digest) && has_same_holes(fd, x, d->buffer) ? 0
											  : EVIDENCE_CONTENT;
}

static bool hides(const struct manifest_entry *e)
{
	for (size_t i = 0; i < e->n_xattrs; i++)
		if (str_ends(e->xattrs[i].name, ".overlay.opaque") ||
		    str_ends(e->xattrs[i].name, ".fuseoverlayfs.opaque"))
			return true;
	return false;
}

/* Did the run put a directory of its own in the place of one that holds PATH? */
static bool is_hidden(const struct diff *d, const char *path)
{
	_cleanup_free_ char *up = strdup(path);
	char *slash;

	while (up && (slash = strrchr(up, '/'))) {
		const struct manifest_entry *e;

		*slash = '\0';
		e = find(&d->a, up);
		if (e && (hides(e) || e->type != MANIFEST_DIR))
			return true;
	}
	return false;
}

/* OLD goes into the list when it is of any interest; the list moves, so pointers are made at the end. */
static int meet(struct diff *d, const struct evidence_diff_tree *t, const struct walk_entry *w, int event,
		struct fault *f)
{
	struct manifest_entry *e = find(&d->a, w->path);
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
	what = is_there(e) ? compare_outside(&old, e) : EVIDENCE_REMOVED;
	if (what == (what & ~(unsigned int)(EVIDENCE_TYPE | EVIDENCE_CONTENT | EVIDENCE_REMOVED)) &&
	    old.type == MANIFEST_FILE)
		what |= compare_bytes(d, w, e);
	if (what == 0) {
		manifest_entry_done(&old);
		return 0;
	}
	/* In the entry of the tree, where nothing else needs the place. */
	old.id = what;
	return add(&d->b, &old, f);
}

/* Nothing is known of it, or of what is in it. */
static bool is_shut(const struct diff *d, const struct evidence_diff_tree *t, const struct walk_entry *w)
{
	const struct manifest_entry *e = find(&d->a, w->path);

	return (w->path_len && strv_has(t->hidden, w->path)) || (e && e->why);
}

int evidence_diff_tree(const struct evidence_diff_tree *t, evidence_diff_told *told, void *arg,
		       struct fault *f)
{
	_cleanup_diff_ struct diff d = { 0 };
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	int r, event;

	r = load(t->evidence, &d.a, f);
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
			r = meet(&d, t, &e, event, f);
		else if (find(&d.a, e.path))
			d.seen[find(&d.a, e.path) - d.a.items] = true;
		if (r == 0 && event == WALK_ENTER && is_shut(&d, t, &e))
			walk_skip(w);
	}
	for (size_t i = 0; r == 0 && i < d.b.n; i++) {
		struct manifest_entry *old = d.b.items + i, *new = find(&d.a, old->path);
		unsigned int what = (unsigned int)old->id;

		old->id = 0;
		r = note(&d, what, old, is_there(new) ? new : NULL, f);
	}
	for (size_t i = 0; r == 0 && i < d.a.n; i++)
		if (!d.seen[i] && is_there(d.a.items + i))
			r = note(&d, EVIDENCE_ADDED, NULL, d.a.items + i, f);
	return r < 0 ? r : tell_all(&d, told, arg);
}
