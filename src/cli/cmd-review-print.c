/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/cmd-review.h"
#include "cli/output.h"
#include "tty/colour.h"
#include "tty/progress.h"

const char *review_attention(const struct change *ch, int *ret_rank)
{
	const struct change_side *o = &ch->old, *n = &ch->new;
	static const char *const words[] = { "unknown", "set-id", "special", "type",	  "link",
					     "deleted", "mode",	  "owner",   "attributes" };
	bool both = o->mode && n->mode;
	int rank;

	if (ch->kind == CHANGE_UNKNOWN)
		rank = 0;
	else if (ch->privileged || (n->mode && !S_ISLNK(n->mode) && (n->mode & (S_ISUID | S_ISGID)) &&
				    !(S_ISDIR(n->mode) && (o->mode & S_ISGID) == (n->mode & S_ISGID))))
		rank = 1;
	else if (n->mode && !S_ISREG(n->mode) && !S_ISDIR(n->mode) && !S_ISLNK(n->mode))
		rank = 2;
	else if (ch->kind == CHANGE_REPLACED)
		rank = 3;
	else if (S_ISLNK(n->mode))
		rank = 4;
	else if (ch->kind == CHANGE_DELETED)
		rank = 5;
	else if (both && o->mode != n->mode)
		rank = 6;
	else if (both && (o->uid != n->uid || o->gid != n->gid))
		rank = 7;
	else if (ch->attributes)
		rank = 8;
	else
		rank = 9;
	*ret_rank = rank;
	return rank < 9 ? words[rank] : NULL;
}

static const char *type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFDIR:
		return "directory";
	case S_IFLNK:
		return "link";
	case S_IFCHR:
	case S_IFBLK:
		return "device";
	case S_IFIFO:
		return "pipe";
	case S_IFSOCK:
		return "socket";
	default:
		return "nothing";
	}
}

static int by_rank(const void *a, const void *b)
{
	const struct change *x = *(struct change *const *)a, *y = *(struct change *const *)b;
	int p, q;

	(void)review_attention(x, &p);
	(void)review_attention(y, &q);
	return p != q ? p - q : changes_compare(x->path, y->path);
}

/* The selected changes, those that need attention first.  Heap; N counts. */
static struct change **order(const struct changes *c, size_t *ret_n)
{
	struct change **v = calloc(c->n + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; v && i < c->n; i++)
		if (c->items[i].picked)
			v[n++] = &c->items[i];
	if (v && n)
		qsort(v, n, sizeof(struct change *), by_rank);
	*ret_n = n;
	return v;
}

static void print_link(const char *text)
{
	_cleanup_free_ char *shown = NULL;

	printf(" -> %s", review_quote(text ? text : "", &shown));
}

/* FROM was removed, and a file with the same bytes was added. */
static void print_rename(const char *word, const struct change *from)
{
	_cleanup_free_ char *old = NULL, *new = NULL;

	printf("%s %s => %s", word, review_quote(from->path, &old), review_quote(from->pair->path, &new));
}

static void print_attention(const struct change *ch)
{
	_cleanup_free_ char *name = NULL;
	const struct change_side *o = &ch->old, *n = &ch->new;
	int rank;
	const char *word = review_attention(ch, &rank);

	printf("%-8s %s", word ? word : changes_kind_name(ch->kind), review_quote(ch->path, &name));
	if (ch->kind == CHANGE_UNKNOWN)
		printf(": %s: %s", ch->why, strerror(ch->error));
	else if (S_ISLNK(n->mode))
		print_link(n->link);
	else if (ch->kind == CHANGE_REPLACED)
		printf(": %s -> %s, mode %04o", type_name(o->mode), type_name(n->mode),
		       (unsigned int)n->mode & 07777);
	else if (ch->kind == CHANGE_DELETED)
		printf(" (%s)", type_name(o->mode));
	else if (o->mode && o->mode != n->mode)
		printf(": mode %04o -> %04o", (unsigned int)o->mode & 07777, (unsigned int)n->mode & 07777);
	else if (o->mode && (o->uid != n->uid || o->gid != n->gid))
		printf(": owner %u:%u -> %u:%u", (unsigned int)o->uid, (unsigned int)o->gid,
		       (unsigned int)n->uid, (unsigned int)n->gid);
	else
		printf(": %s, mode %04o", type_name(n->mode), (unsigned int)n->mode & 07777);
	if (ch->attributes) {
		_cleanup_free_ char *shown = str_escape(ch->attributes);

		printf("; attributes: %s", shown ? shown : "?");
	}
	putchar('\n');
}

/* Changes that a patch does not show, or that are easily overlooked in one. */
static void print_first(const struct review_call *r, struct change *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int rank;

		if (v[i]->folded)
			continue;
		if (v[i]->pair && v[i]->kind == CHANGE_DELETED) {
			print_rename("renamed ", v[i]);
			putchar('\n');
		} else if (review_attention(v[i], &rank) || S_ISDIR(v[i]->new.mode)) {
			print_attention(v[i]);
		}
	}
	review_print_git(r, r->colour);
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *name = NULL, *why = NULL;

		if (!v[i]->refused)
			continue;
		why = str_escape(v[i]->refused);
		printf("%sapply refuses %s: %s%s\n", colour_begin(r->colour, COLOUR_HEAD),
		       review_quote(v[i]->path, &name), why ? why : "?", colour_end(r->colour));
	}
	if (n)
		putchar('\n');
}

int review_print_diff(struct review_call *r, struct fault *f)
{
	size_t n;
	_cleanup_free_ struct change **v = order(&r->changes, &n);
	_cleanup_progress_ struct progress progress = { .fd = -EBADF };
	int e = 0;

	if (!v)
		return fault_errno(f, ENOMEM, "diff");
	review_print_repository(r);
	print_first(r, v, n);
	progress_init(&progress, "comparing");
	/* Not beyond an error of stdout: a pager that was left reads no more. */
	for (size_t i = 0; i < n && e == 0 && !ferror(stdout); i++) {
		if (!v[i]->folded)
			e = review_print_change(r, v[i], f);
		/* On a terminal the output itself shows it. */
		if (!r->terminal)
			progress_tell(&progress, i + 1, 0);
	}
	return e;
}

static void print_sizes(const struct change *ch, const char *what)
{
	printf(" | %s%llu -> %llu bytes", what, (unsigned long long)ch->old.size,
	       (unsigned long long)(ch->kind == CHANGE_DELETED ? 0 : ch->new.size));
}

static void print_counts(const struct review_call *r, const struct change *ch, const struct review_count *c)
{
	if (c->binary || c->large)
		print_sizes(ch, c->large ? "large, " : "binary, ");
	else if (c->added || c->removed)
		printf(" | %s+%zu%s %s-%zu%s", colour_begin(r->colour, COLOUR_NEW), c->added,
		       colour_end(r->colour), colour_begin(r->colour, COLOUR_OLD), c->removed,
		       colour_end(r->colour));
}

/* One line of --stat.  C NULL: lines were not counted. */
static void print_row(const struct review_call *r, const struct change *ch, const struct review_count *c)
{
	_cleanup_free_ char *name = NULL;

	if (ch->folded || (ch->pair && ch->kind == CHANGE_ADDED))
		return;
	if (ch->pair) {
		print_rename("renamed  ", ch);
	} else {
		printf("%-9s %s", changes_kind_name(ch->kind), review_quote(ch->path, &name));
		if (c)
			print_counts(r, ch, c);
		else if (ch->bytes && (S_ISREG(ch->old.mode) || S_ISREG(ch->new.mode)))
			print_sizes(ch, "");
	}
	putchar('\n');
}

/* Counting reads both sides of each file, for more numbers than a person reads. */
static int print_many(struct review_call *r, struct change *const *v, size_t n)
{
	review_print_repository(r);
	print_first(r, v, n);
	for (size_t i = 0; i < n && !ferror(stdout); i++)
		print_row(r, v[i], NULL);
	printf("%zu changes; lines are counted only up to %d changes: name PATHs, or add --lines\n", n,
	       REVIEW_COUNTED_MAX);
	return 0;
}

int review_print_stat(struct review_call *r, struct fault *f)
{
	size_t n, added = 0, removed = 0;
	_cleanup_free_ struct change **v = order(&r->changes, &n);
	_cleanup_free_ struct review_count *counts = calloc(n + 1, sizeof(*counts));
	int e;

	if (!v || !counts)
		return fault_errno(f, ENOMEM, "diff");
	if (n > REVIEW_COUNTED_MAX && !r->call->count_lines)
		return print_many(r, v, n);
	e = review_count_all(r, v, n, counts, f);
	if (e < 0)
		return e;
	review_print_repository(r);
	print_first(r, v, n);
	for (size_t i = 0; i < n && !ferror(stdout); i++) {
		print_row(r, v[i], &counts[i]);
		if (v[i]->folded || v[i]->pair)
			continue;
		added += counts[i].added;
		removed += counts[i].removed;
	}
	printf("%zu change%s, %zu line%s added, %zu removed\n", n, n == 1 ? "" : "s", added,
	       added == 1 ? "" : "s", removed);
	return 0;
}

static void describe_side(struct jdoc *o, const char *key, const struct change_side *s)
{
	struct jdoc *d;
	char mode[8];

	if (!s->mode) {
		jdoc_set(o, key, jdoc_new_null());
		return;
	}
	d = jdoc_set_object(o, key);
	jdoc_set_string(d, "type", type_name(s->mode));
	(void)snprintf(mode, sizeof(mode), "%04o", (unsigned int)s->mode & 07777);
	jdoc_set_string(d, "mode", mode);
	jdoc_set_int(d, "uid", s->uid);
	jdoc_set_int(d, "gid", s->gid);
	if (S_ISREG(s->mode))
		jdoc_set_int(d, "size", (int64_t)s->size);
	if (s->link)
		jdoc_set(d, "link", ledger_text(s->link));
}

static void describe(const struct change *ch, const struct review_count *c, struct jdoc *rows)
{
	struct jdoc *o = jdoc_append_object(rows);
	int rank;
	const char *word = review_attention(ch, &rank);

	jdoc_set(o, "path", ledger_text(ch->path));
	jdoc_set_string(o, "change", changes_kind_name(ch->kind));
	jdoc_set(o, "attention", word ? jdoc_new_string(word) : jdoc_new_null());
	jdoc_set(o, "refused", ch->refused ? ledger_text(ch->refused) : jdoc_new_null());
	jdoc_set(o, "attributes", ch->attributes ? ledger_text(ch->attributes) : jdoc_new_null());
	describe_side(o, "old", &ch->old);
	describe_side(o, "new", &ch->new);
	jdoc_set_bool(o, "binary", c->binary);
	jdoc_set_int(o, "lines_added", (int64_t)c->added);
	jdoc_set_int(o, "lines_removed", (int64_t)c->removed);
	if (ch->kind == CHANGE_UNKNOWN)
		jdoc_set_string(o, "error", strerror(ch->error));
	if (ch->pair)
		jdoc_set(o, ch->kind == CHANGE_ADDED ? "renamed_from" : "renamed_to",
			 ledger_text(ch->pair->path));
}

int review_print_json(struct review_call *r, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = jdoc_new_object();
	struct jdoc *rows = jdoc_set_array(doc, "changes");
	size_t n;
	_cleanup_free_ struct change **v = order(&r->changes, &n);
	_cleanup_free_ struct review_count *counts = calloc(n + 1, sizeof(*counts));
	int e = v && counts ? review_count_all(r, v, n, counts, f) : fault_errno(f, ENOMEM, "diff");

	jdoc_set_int(doc, "schema_version", 1);
	jdoc_set_string(doc, "session", r->kept.session);
	jdoc_set_string(doc, "worktree", r->kept.worktree);
	for (size_t i = 0; i < n && e == 0; i++)
		describe(v[i], &counts[i], rows);
	review_describe_repository(r, doc);
	review_describe_git(r, doc);
	return e < 0 ? e : output_print(doc, f);
}
