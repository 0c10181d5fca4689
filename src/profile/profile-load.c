/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "profile/profile-file.h"
#include "profile/profile-impl.h"

#define FILES_MAX 64 /* of one load: bounds lists of parents that have lists of parents */
#define DEFAULT_BASE "offline"

/* State of one load: the chain of files being resolved, outermost first. */
struct loader {
	const struct profile_sources *src;
	const struct profile_vars *vars;
	char **origins; /* labels of documents; struct profile owns them afterwards */
	struct {
		const char *name, *path;
	} chain[PROFILE_EXTENDS_MAX + 1];
	unsigned int depth, n_files;
};

static int resolve(struct loader *l, const char *name, bool outside, struct jdoc **ret, struct fault *f);

static int chain_fault(const struct loader *l, const char *name, const char *what, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	for (unsigned int i = 0; i < l->depth; i++)
		strbuf_printf(&b, "%s -> ", l->chain[i].name);
	return fault_set(f, ELOOP, "%s: %s%s", what, b.text ? b.text : "", name);
}

static int enter(struct loader *l, const char *name, const char *path, struct fault *f)
{
	for (unsigned int i = 0; i < l->depth; i++)
		if (strcmp(l->chain[i].path, path) == 0)
			return chain_fault(l, name, "'extends' forms a cycle", f);
	if (l->depth > PROFILE_EXTENDS_MAX)
		return chain_fault(l, name, "'extends' is more than 8 levels deep", f);
	if (++l->n_files > FILES_MAX)
		return fault_set(f, E2BIG, "'extends' needs more than %d files", FILES_MAX);
	l->chain[l->depth].name = name;
	l->chain[l->depth].path = path;
	l->depth++;
	return 0;
}

/* The name must match the file name, otherwise two files could have the same name. */
static int require_name(const char *name, const struct jdoc *doc, struct fault *f)
{
	const struct jdoc *own = jdoc_get(doc, "name");

	if (strchr(name, '/') || str_eq(own->string, name))
		return 0;
	return key_fault_set(f, own, "'name' is '%s', but the file is called '%s.json': make them equal",
			     own->string, name);
}

static int build(const struct loader *l, const struct jdoc *doc, struct profile **ret, struct fault *f)
{
	struct jdoc *copy = jdoc_copy(doc);

	if (!copy)
		return fault_errno(f, ENOMEM, "profile");
	return profile_from_document(copy, NULL, l->vars, ret, f);
}

static int loosened(const struct profile *base, const struct profile *p, const struct profile_file *file,
		    const char *path, enum profile_trust trust, struct fault *f)
{
	const struct key_row *k = profile_keys();
	const struct jdoc *v;
	int r;

	while (k->path && strcmp(k->path, path) != 0)
		k++;
	v = k->path ? key_row_value(k, p->document) : NULL;
	r = fault_set(f, EPERM,
		      "profile '%s': '%s' is looser than in '%s', but a profile in the worktree may only "
		      "tighten%s: change it, or review it and run: custody profile trust %s",
		      p->name, path, base->name,
		      trust == PROFILE_TRUST_CHANGED ? " (it was trusted, but the file has changed since)"
						     : "",
		      file->path);
	return v && v->origin ? key_fault_at(f, v, r) : fault_wrap(f, r, "%s", file->path);
}

static int require_tighter(const struct loader *l, const struct jdoc *base_doc, const struct jdoc *doc,
			   const struct profile_file *file, enum profile_trust trust, struct fault *f)
{
	_cleanup_profile_ struct profile *base = NULL, *p = NULL;
	const char *key;
	int r;

	r = build(l, base_doc, &base, f);
	if (r == 0)
		r = build(l, doc, &p, f);
	if (r < 0 || profile_is_tighter(base, p, &key))
		return r;
	return loosened(base, p, file, key, trust, f);
}

/* The parents of one document: each one alone, for the comparison, and merged into one. */
struct parents {
	struct jdoc *each[PROFILE_EXTENDS_MAX];
	size_t n;
	struct jdoc *merged; /* NULL: no parents */
};

static void parents_done(struct parents *p)
{
	for (size_t i = 0; i < p->n; i++)
		jdoc_free(p->each[i]);
	jdoc_free(p->merged);
}

static int add_parent(struct loader *l, const struct jdoc *name, bool outside, struct parents *p,
		      struct fault *f)
{
	struct jdoc *merged = NULL;
	int r;

	if (p->n == PROFILE_EXTENDS_MAX)
		return key_fault_set(f, name, "'extends' lists more than %d profiles", PROFILE_EXTENDS_MAX);
	r = resolve(l, name->string, outside, &p->each[p->n], f);
	if (r < 0)
		return key_fault_at(f, name, r);
	p->n++;
	if (p->merged)
		r = profile_merge(p->merged, p->each[p->n - 1], &merged, f);
	else if (!(merged = jdoc_copy(p->each[p->n - 1])))
		r = fault_errno(f, ENOMEM, "profile");
	if (r < 0)
		return r;
	jdoc_free(p->merged);
	p->merged = merged;
	return 0;
}

static int load_parents(struct loader *l, const struct jdoc *doc, bool outside, struct parents *p,
			struct fault *f)
{
	const struct jdoc *extends = jdoc_get(doc, "extends"), *remove = jdoc_get(doc, "remove");
	int r = 0;

	if (extends && extends->type == JDOC_STRING)
		r = add_parent(l, extends, outside, p, f);
	else
		for (size_t i = 0; extends && i < extends->n_items && r == 0; i++)
			r = add_parent(l, extends->items[i], outside, p, f);
	if (r == 0 && remove && !p->merged)
		r = key_fault_set(f, remove, "'remove' without 'extends': no parent to remove from");
	if (r == 0 && remove)
		r = profile_remove(p->merged, remove, f);
	return r;
}

/* A file of the worktree is compared with each parent, or with the default if it has none. */
static int judge(struct loader *l, const struct parents *p, const struct jdoc *doc,
		 const struct profile_file *file, enum profile_trust trust, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *base = NULL;
	int r;

	if (p->n == 0) {
		r = resolve(l, DEFAULT_BASE, true, &base, f);
		if (r < 0)
			return fault_wrap(f, r,
					  "profile '%s' is in the worktree and is compared with the default",
					  file->path);
		return require_tighter(l, base, doc, file, trust, f);
	}
	for (size_t i = 0; i < p->n; i++) {
		r = require_tighter(l, p->each[i], doc, file, trust, f);
		if (r < 0)
			return r;
	}
	return 0;
}

static int resolve_file(struct loader *l, const char *name, const struct profile_file *file,
			struct jdoc **ret, struct fault *f)
{
	_cleanup_(parents_done) struct parents parents = { 0 };
	_cleanup_jdoc_ struct jdoc *doc = NULL, *merged = NULL;
	enum profile_trust trust = PROFILE_TRUST_TRUSTED;
	int r;

	if (strv_append(&l->origins, file->path) < 0)
		return fault_errno(f, ENOMEM, "profile '%s'", name);
	r = profile_document_parse(file->text, file->len, l->origins[strv_len(l->origins) - 1], l->vars, &doc,
				   f);
	if (r == 0)
		r = require_name(name, doc, f);
	if (r == 0 && file->in_worktree)
		r = profile_trust_check(l->src->trust_file, file->path, &file->digest, &trust, f);
	/* A file outside the worktree must not take its parent from inside it. */
	if (r == 0)
		r = load_parents(l, doc, !file->in_worktree, &parents, f);
	if (r == 0 && parents.merged)
		r = profile_merge(parents.merged, doc, &merged, f);
	else if (r == 0)
		merged = TAKE_PTR(doc);
	if (r == 0 && trust != PROFILE_TRUST_TRUSTED)
		r = judge(l, &parents, merged, file, trust, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(merged);
	return 0;
}

/* The file that extends a profile of its own name: the parent is the next one of the search, such as the shipped one. */
static const char *namesake(const struct loader *l, const char *name)
{
	return l->depth > 0 && str_eq(l->chain[l->depth - 1].name, name) ? l->chain[l->depth - 1].path : NULL;
}

static int resolve(struct loader *l, const char *name, bool outside, struct jdoc **ret, struct fault *f)
{
	_cleanup_profile_file_ struct profile_file file = { 0 };
	int r;

	r = profile_file_open(name, l->src, outside, namesake(l, name), &file, f);
	if (r == -ENOENT && namesake(l, name)) {
		fault_done(f);
		return chain_fault(l, name, "'extends' forms a cycle", f);
	}
	if (r == 0)
		r = enter(l, name, file.path, f);
	if (r < 0)
		return r;
	r = resolve_file(l, name, &file, ret, f);
	l->depth--;
	return r;
}

int profile_load(const char *name, const struct profile_sources *src, const struct profile_vars *vars,
		 struct profile **ret, struct fault *f)
{
	struct loader l = { .src = src, .vars = vars };
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	int r;

	r = resolve(&l, name, false, &doc, f);
	if (r < 0) {
		strv_free(l.origins);
		return r;
	}
	r = profile_from_document(TAKE_PTR(doc), l.origins, vars, &p, f);
	if (r == 0)
		r = profile_require_sound(p, vars, f);
	if (r < 0)
		return r;
	/* The first opened file is the requested profile. */
	p->path = strdup(p->origins[0]);
	if (!p->path)
		return fault_errno(f, ENOMEM, "profile '%s'", name);
	*ret = TAKE_PTR(p);
	return 0;
}
