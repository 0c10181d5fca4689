/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-diff-impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/manifest-file.h"
#include "worktree/overlay-xattr.h"

static void list_done(struct diff_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		manifest_entry_done(l->items + i);
	free(l->items);
	free(l->ids);
}

void diff_done(struct diff *d)
{
	list_done(&d->a);
	list_done(&d->b);
	free(d->seen);
	free(d->found);
	free(d->buffer);
}

const char *evidence_change_name(unsigned int bit)
{
	static const char *const names[EVIDENCE_CHANGES] = { "added", "removed", "type", "modified",
							     "mode",  "owner",	 "link", "unclear" };

	for (unsigned int i = 0; i < EVIDENCE_CHANGES; i++)
		if (bit == 1U << i)
			return names[i];
	return "?";
}

/* Takes over E, also when it fails. */
int diff_list_add(struct diff_list *l, struct manifest_entry *e, struct fault *f)
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
	const struct diff_found *x = a, *y = b;

	return by_path(x->old ? x->old : x->new, y->old ? y->old : y->new);
}

static int by_id(const void *a, const void *b)
{
	const struct manifest_entry *x = *(struct manifest_entry *const *)a,
				    *y = *(struct manifest_entry *const *)b;

	return (x->id > y->id) - (x->id < y->id);
}

static int sort(struct diff_list *l, struct fault *f)
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

/* Marker files that fuse-overlayfs creates in every new directory; the attribute beside them has the same meaning. */
static bool is_fuse_mark(const struct manifest_entry *e)
{
	const char *slash = strrchr(e->path, '/'), *name = slash ? slash + 1 : e->path;

	return (e->type == MANIFEST_GONE || (e->type == MANIFEST_FILE && e->size == 0)) &&
	       (str_eq(name, OVERLAY_FUSE_OPAQUE) || str_eq(name, OVERLAY_FUSE_REST));
}

int diff_list_load(int evidence, struct diff_list *l, struct fault *f)
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
			r = diff_list_add(l, &e, f);
	}
	return r < 0 ? r : sort(l, f);
}

struct manifest_entry *diff_list_find(const struct diff_list *l, const char *path)
{
	const struct manifest_entry key = { .path = (char *)path };

	return l->n ? bsearch(&key, l->items, l->n, sizeof(*l->items), by_path) : NULL;
}

int diff_add(struct diff *d, unsigned int what, struct manifest_entry *old, struct manifest_entry *new,
	     struct fault *f)
{
	if (d->n == d->room) {
		size_t room = d->room ? 2 * d->room : 64;
		struct diff_found *grown = reallocarray(d->found, room, sizeof(*grown));

		if (!grown)
			return fault_errno(f, ENOMEM, "diff");
		d->found = grown;
		d->room = room;
	}
	d->found[d->n++] = (struct diff_found){ what, old, new };
	return 0;
}

int diff_report(struct diff *d, evidence_diff_told *told, void *arg)
{
	int r = 0;

	if (d->n)
		qsort(d->found, d->n, sizeof(*d->found), by_found);
	for (size_t i = 0; r == 0 && i < d->n; i++) {
		const struct diff_found *x = d->found + i;

		r = told(arg, &(struct evidence_difference){ .path = x->old ? x->old->path : x->new->path,
							     .what = x->what,
							     .old = x->old,
							     .new = x->new });
	}
	return r;
}

/* The entry of a hard-linked file that has its digest. */
const struct manifest_entry *diff_list_content(const struct diff_list *l, const struct manifest_entry *e)
{
	struct manifest_entry key = { .id = e->same }, *at = &key, **found;

	if (!e->same || !l->n_ids)
		return e;
	found = bsearch(&at, l->ids, l->n_ids, sizeof(*l->ids), by_id);
	return found ? *found : e;
}

/* Everything but the contents of files. */
unsigned int diff_compare_metadata(const struct manifest_entry *a, const struct manifest_entry *b)
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
	unsigned int what = diff_compare_metadata(a, b);
	const struct manifest_entry *x, *y;

	if (a->type != MANIFEST_FILE || what & (EVIDENCE_TYPE | EVIDENCE_CONTENT))
		return what;
	x = diff_list_content(&d->a, a);
	y = diff_list_content(&d->b, b);
	if (!x->has_digest || !y->has_digest || x->why || y->why || !has_same_extents(x, y))
		return what | EVIDENCE_UNCLEAR;
	return digest_equal(&x->digest, &y->digest) ? what : what | EVIDENCE_CONTENT;
}

bool diff_exists(const struct manifest_entry *e)
{
	return e && e->type != MANIFEST_GONE;
}

int evidence_diff(int evidence, int other, evidence_diff_told *told, void *arg, struct fault *f)
{
	_cleanup_diff_ struct diff d = { 0 };
	int r;

	r = diff_list_load(evidence, &d.a, f);
	if (r == 0)
		r = diff_list_load(other, &d.b, f);
	for (size_t i = 0; r == 0 && i < d.a.n; i++) {
		struct manifest_entry *a = d.a.items + i, *b = diff_list_find(&d.b, a->path);
		unsigned int what = 0;

		if (diff_exists(a) && diff_exists(b))
			what = compare_kept(&d, a, b);
		else if (diff_exists(a) || diff_exists(b))
			what = diff_exists(a) ? EVIDENCE_REMOVED : EVIDENCE_ADDED;
		if (what)
			r = diff_add(&d, what, diff_exists(a) ? a : NULL, diff_exists(b) ? b : NULL, f);
	}
	for (size_t i = 0; r == 0 && i < d.b.n; i++)
		if (diff_exists(d.b.items + i) && !diff_list_find(&d.a, d.b.items[i].path))
			r = diff_add(&d, EVIDENCE_ADDED, NULL, d.b.items + i, f);
	return r < 0 ? r : diff_report(&d, told, arg);
}
