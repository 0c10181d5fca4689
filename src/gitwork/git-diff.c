/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gitwork/git-diff.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/fd.h"
#include "gitwork/git-list.h"

enum { WANT_HEAD, WANT_BASE, WANT_INDEX, WANTS };

struct diff {
	struct git_source source;
	struct git_box box;
	struct git_index index;
	const char *path; /* NULL: all */
	bool staged, has_head, has_base;
	char oid[WANTS][GIT_OID_SIZE];
};

static void diff_done(struct diff *d)
{
	git_source_done(&d->source);
	git_index_done(&d->index);
	d->box.dir = fd_close(d->box.dir);
}

int git_diff_require(const struct jdoc *p, struct fault *f)
{
	for (size_t i = 0; i < p->n_members; i++) {
		const char *key = p->members[i].key;
		const struct jdoc *v = p->members[i].value;

		if (!str_eq(key, "base") && !str_eq(key, "path") && !str_eq(key, "staged"))
			return fault_set(f, EINVAL,
					 "git.diff has the parameters 'base', 'path' and 'staged'");
		if (v->type != (str_eq(key, "staged") ? JDOC_BOOL : JDOC_STRING))
			return fault_set(f, EINVAL, "git.diff: parameter '%s' has another type", key);
	}
	return 0;
}

/* The branch of the remote that the work began from, as clones name it. */
static int find_base(struct diff *d, const char *given, struct fault *f)
{
	static const char *const usual[] = { "refs/remotes/origin/HEAD", "refs/remotes/origin/main",
					     "refs/remotes/origin/master" };
	int r = -ENOENT;

	if (given) {
		r = git_source_find(&d->source, given, d->oid[WANT_BASE], f);
		d->has_base = r == 0;
		return r == -ENOENT ? fault_set(f, ENOENT, "the repository has no such 'base'") : r;
	}
	for (size_t i = 0; r == -ENOENT && i < ARRAY_SIZE(usual); i++)
		r = git_source_read_ref(&d->source, usual[i], d->oid[WANT_BASE], f);
	d->has_base = r == 0;
	return r == -ENOENT ? 0 : r;
}

static int read_source(struct diff *d, const struct git_call *c, struct fault *f)
{
	const struct jdoc *staged = jdoc_get(c->params, "staged");
	int r = git_source_open(c->top, &d->source, f);

	if (r == 0)
		r = git_source_read_ref(&d->source, "HEAD", d->oid[WANT_HEAD], f);
	d->has_head = r == 0;
	if (r == -ENOENT && !f->code)
		r = 0;
	if (r == 0)
		r = find_base(d, jdoc_get_string(c->params, "base"), f);
	d->staged = !staged || staged->boolean;
	d->path = jdoc_get_string(c->params, "path");
	return r < 0 || !d->staged ? r : git_index_load(&d->source, &d->index, f);
}

/* The index as a tree, in the repository of the unverified copies. */
static int write_index(struct diff *d, struct fault *f)
{
	static const char *const fill[] = { "update-index", "-z", "--index-info", NULL }, *const write[] = {
		"write-tree", NULL
	};
	int r = git_run(&d->box, GIT_SOURCE, fill, &d->index.info, NULL, f);

	if (r == 0)
		r = git_run_oid(&d->box, GIT_SOURCE, write, d->oid[WANT_INDEX], f);
	return r < 0 ? fault_wrap(f, r, "the repository's index") : 0;
}

static int import(struct diff *d, struct fault *f)
{
	char *want[WANTS + 1];
	size_t n = 0;
	int r = git_source_copy(&d->source, &d->box, f);

	if (r == 0 && d->staged)
		r = write_index(d, f);
	if (r < 0)
		return r;
	if (d->has_head)
		want[n++] = d->oid[WANT_HEAD];
	if (d->has_base)
		want[n++] = d->oid[WANT_BASE];
	if (d->staged)
		want[n++] = d->oid[WANT_INDEX];
	want[n] = NULL;
	return git_source_import(&d->box, want, f);
}

/* Leaves D->oid[WANT_BASE] as the merge base; HAS_BASE is false without a common commit. */
static int find_merge_base(struct diff *d, struct fault *f)
{
	const char *argv[] = { "merge-base", d->oid[WANT_BASE], d->oid[WANT_HEAD], NULL };
	_cleanup_strbuf_ struct strbuf out = { 0 };
	int r;

	if (!d->has_base || !d->has_head) {
		d->has_base = false;
		return 0;
	}
	r = git_run_status(&d->box, GIT_CLEAN, argv, NULL, &out, f);
	d->has_base = r == 0;
	if (r == 1 && out.len == 0)
		return 0;
	if (r != 0 || out.len != GIT_OID_SIZE)
		return r < 0 ? r : fault_set(f, EREMOTEIO, "'git merge-base' failed with status %d", r);
	memcpy(d->oid[WANT_BASE], out.text, GIT_OID_SIZE - 1);
	return 0;
}

static int put_tree_diff(const struct diff *d, struct jdoc *data, const char *key, const char *from,
			 const char *to, struct fault *f)
{
	const char *argv[] = { "diff-tree",	"-r", "-z", "-M", "--raw", "--no-abbrev", "--no-ext-diff",
			       "--no-textconv", from, to,   "--", d->path, NULL };
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r = git_run(&d->box, GIT_CLEAN, argv, NULL, &text, f);

	return r < 0 ? r : git_put_changes(jdoc_set_array(data, key), &text, f);
}

static int put_commits(const struct diff *d, struct jdoc *data, struct fault *f)
{
	const char *argv[] = { "rev-list",
			       "--topo-order",
			       "--max-count=1000",
			       d->oid[WANT_HEAD],
			       d->has_base ? "--not" : NULL,
			       d->oid[WANT_BASE],
			       NULL };
	struct jdoc *list = jdoc_set_array(data, "commits");
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r = d->has_head ? git_run(&d->box, GIT_CLEAN, argv, NULL, &text, f) : 0;

	for (size_t at = 0; r == 0 && at + GIT_OID_SIZE <= text.len; at += GIT_OID_SIZE) {
		text.text[at + GIT_OID_SIZE - 1] = '\0';
		jdoc_append_string(list, text.text + at);
	}
	return r;
}

static void put_oid(struct jdoc *data, const char *key, const char *oid)
{
	jdoc_set(data, key, oid ? jdoc_new_string(oid) : jdoc_new_null());
}

static int list(struct diff *d, struct jdoc *data, struct fault *f)
{
	const char *head = d->has_head ? d->oid[WANT_HEAD] : NULL, *base;
	int r = find_merge_base(d, f);

	if (r < 0)
		return r;
	base = d->has_base ? d->oid[WANT_BASE] : NULL;
	put_oid(data, "base", base);
	put_oid(data, "head", head);
	r = put_commits(d, data, f);
	if (r == 0)
		r = put_tree_diff(d, data, "changes", base ? base : GIT_EMPTY_TREE,
				  head ? head : GIT_EMPTY_TREE, f);
	if (r == 0 && d->staged)
		r = put_tree_diff(d, data, "staged", head ? head : GIT_EMPTY_TREE, d->oid[WANT_INDEX], f);
	if (r == 0 && d->staged)
		r = git_put_untracked(jdoc_set_array(data, "untracked"), &d->source, &d->index, f);
	return r;
}

int git_diff(const struct git_call *c, struct jdoc **ret, struct fault *f)
{
	_cleanup_(diff_done) struct diff d = { .source = GIT_SOURCE_NONE,
					       .box = { .program = c->program, .dir = -EBADF } };
	_cleanup_jdoc_ struct jdoc *data = jdoc_new_object();
	int r = git_diff_require(c->params, f);

	if (r == 0)
		r = read_source(&d, c, f);
	if (r == 0)
		r = git_box_open(c->state, &d.box, f);
	if (r == 0)
		r = import(&d, f);
	if (r == 0)
		r = list(&d, data, f);
	if (r == 0)
		*ret = TAKE_PTR(data);
	return r;
}
