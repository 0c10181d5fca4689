/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/dispatch.h"
#include "base/fd.h"
#include "base/str.h"
#include "cli/cmd-evidence.h"
#include "evidence/evidence-diff.h"
#include "evidence/evidence-metadata.h"
#include "base/exit-status.h"
#include "ledger/ledger.h"

struct printing {
	struct jdoc *list; /* NULL: plain text */
	uint64_t n;
};

static void describe_side(struct jdoc *row, const char *key, const struct manifest_entry *e)
{
	struct jdoc *o;
	char mode[8];

	if (!e)
		return;
	o = jdoc_set_object(row, key);
	(void)snprintf(mode, sizeof(mode), "%04o", e->mode & 07777);
	jdoc_set_string(o, "mode", mode);
	jdoc_set_int(o, "uid", (int64_t)e->uid);
	jdoc_set_int(o, "gid", (int64_t)e->gid);
	jdoc_set_int(o, "size", (int64_t)e->size);
	if (e->link)
		jdoc_set(o, "link", ledger_text(e->link));
}

static void describe(struct jdoc *list, const struct evidence_difference *d)
{
	struct jdoc *row = jdoc_append_object(list), *what;

	jdoc_set(row, "path", ledger_text(d->path));
	what = jdoc_set_array(row, "what");
	for (unsigned int i = 0; i < EVIDENCE_CHANGES; i++)
		if (d->what & (1U << i))
			jdoc_append_string(what, evidence_change_name(1U << i));
	describe_side(row, "old", d->old);
	describe_side(row, "new", d->new);
}

/* "M  path  (modified, mode 0644 -> 0755)" */
static void print_change(const struct evidence_difference *d, unsigned int bit)
{
	_cleanup_free_ char *from = d->old && d->old->link ? str_escape(d->old->link) : NULL,
			    *to = d->new && d->new->link ? str_escape(d->new->link) : NULL;

	printf("%s", evidence_change_name(bit));
	if (bit == EVIDENCE_MODE)
		printf(" %04o -> %04o", d->old->mode & 07777, d->new->mode & 07777);
	if (bit == EVIDENCE_OWNER)
		printf(" %llu:%llu -> %llu:%llu", (unsigned long long)d->old->uid,
		       (unsigned long long)d->old->gid, (unsigned long long)d->new->uid,
		       (unsigned long long)d->new->gid);
	if (bit == EVIDENCE_LINK)
		printf(" %s -> %s", from ? from : "?", to ? to : "?");
}

static void print_line(const struct evidence_difference *d)
{
	_cleanup_free_ char *path = str_escape(d->path);
	const char *before = "  (";

	printf("%c  %s",
	       d->what & EVIDENCE_ADDED	     ? 'A'
	       : d->what & EVIDENCE_REMOVED  ? 'R'
	       : d->what == EVIDENCE_UNCLEAR ? '?'
					     : 'M',
	       path && *path ? path : ".");
	for (unsigned int i = 2; i < EVIDENCE_CHANGES; i++)
		if (d->what & (1U << i)) {
			printf("%s", before);
			print_change(d, 1U << i);
			before = ", ";
		}
	printf("%s\n", before[0] == ',' ? ")" : "");
}

static int print_difference(void *arg, const struct evidence_difference *d)
{
	struct printing *p = arg;

	p->n++;
	if (p->list)
		describe(p->list, d);
	else
		print_line(d);
	return 0;
}

static char **read_hidden(const struct jdoc *metadata)
{
	const struct jdoc *list = jdoc_get(metadata, "hidden");
	char **v = NULL;

	for (size_t i = 0; list && list->type == JDOC_ARRAY && i < list->n_items; i++)
		if (list->items[i]->type == JDOC_STRING)
			(void)!strv_append(&v, list->items[i]->string);
	return v;
}

static int diff_tree(const struct evidence_call *c, int dir, const char **ret_against,
		     struct jdoc **ret_metadata, struct printing *p, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *metadata = evidence_metadata_read(dir);
	_cleanup_strv_ char **hidden = read_hidden(metadata);
	const struct jdoc *cut = jdoc_get(jdoc_get(metadata, "tree"), "cut_short");
	const char *path = c->call->tree ? c->call->tree : jdoc_get_string(metadata, "worktree");
	struct evidence_diff_tree t = { .evidence = dir,
					.changes = str_eq(jdoc_get_string(metadata, "scope"), "changes"),
					.cut = cut && cut->type == JDOC_BOOL && cut->boolean,
					.elsewhere = c->call->tree != NULL,
					.hidden = hidden };
	_cleanup_close_ int tree = -EBADF;
	int r;

	if (!path)
		return fault_set(f, ENOENT, "the evidence has no path of its worktree: use --tree DIR");
	tree = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tree < 0)
		return fault_errno(f, errno, "open the tree '%s' (use --tree DIR for another one)", path);
	t.tree = tree;
	r = evidence_diff_tree(&t, print_difference, p, f);
	if (r == 0 && t.cut)
		fprintf(stderr, "the evidence is incomplete: other differences are unknown\n");
	*ret_against = path;
	*ret_metadata = TAKE_PTR(metadata);
	return r;
}

static int diff_other(const struct evidence_call *c, int dir, char **ret_name, struct printing *p,
		      struct fault *f)
{
	_cleanup_close_ int other = evidence_locate(c, c->call->args[1], ret_name, NULL, f);

	return other < 0 ? other : evidence_diff(dir, other, print_difference, p, f);
}

/* Old side: the tree, or the first evidence.  New side: the evidence, or the second one. */
int evidence_cmd_diff(const struct evidence_call *c, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *o = c->call->json ? jdoc_new_object() : NULL, *metadata = NULL;
	_cleanup_free_ char *name = NULL, *other = NULL;
	struct printing p = { .list = o ? jdoc_set_array(o, "changes") : NULL };
	_cleanup_close_ int dir = -EBADF;
	const char *against = NULL;
	int r;

	if (c->call->tree && c->call->n_args > 1)
		return dispatch_usage(c->call, "ID2 and --tree cannot be used together");
	dir = evidence_locate(c, c->call->args[0], &name, NULL, f);
	if (dir < 0)
		return dir;
	r = c->call->n_args > 1 ? diff_other(c, dir, &other, &p, f)
				: diff_tree(c, dir, &against, &metadata, &p, f);
	if (r == 0 && o) {
		jdoc_set_string(o, "id", name);
		jdoc_set(o, "against", ledger_text(other ? other : against));
		jdoc_set_bool(o, "different", p.n > 0);
		r = evidence_print_json(o, f);
	}
	return r < 0 ? r : p.n ? STATUS_NO : STATUS_OK;
}
