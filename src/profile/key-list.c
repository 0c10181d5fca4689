/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/key-value.h"

#include <errno.h>
#include <string.h>

#include "layer/layer.h"

static int no_memory(struct fault *f)
{
	return fault_errno(f, ENOMEM, "profile");
}

static int require_list(const struct key_row *k, const struct jdoc *v, struct fault *f)
{
	int r;

	r = key_value_require_type(k, v, JDOC_ARRAY, f);
	if (r == 0 && v->n_items > KEY_LIST_MAX)
		r = key_fault_set(f, v, "'%s' has %zu items, at most %d are allowed", k->path, v->n_items,
				  KEY_LIST_MAX);
	return r;
}

static int take_item(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars,
		     char **ret, struct fault *f)
{
	int r;

	if (k->kind == KEY_KIND_PATHS)
		return key_value_path(k, v, vars, ret, f);
	if (k->kind == KEY_KIND_BINDS)
		return key_value_bind(k, v, vars, ret, f);
	if (k->kind == KEY_KIND_DANGERS || k->kind == KEY_KIND_WORDS || k->kind == KEY_KIND_LAYERS) {
		r = key_value_require_word(k, v, f);
		if (r < 0)
			return r;
	}
	return key_value_text(k, v, vars, ret, f);
}

int key_list_set(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars, void *p,
		 struct fault *f)
{
	bool in_order = k->kind == KEY_KIND_ARGV;
	_cleanup_strv_ char **list = NULL;
	char ***to = key_row_field(k, p);
	int r;

	r = require_list(k, v, f);
	for (size_t i = 0; r == 0 && i < v->n_items; i++) {
		_cleanup_free_ char *text = NULL;

		r = take_item(k, v->items[i], vars, &text, f);
		if (r == 0 && (in_order || !strv_has(list, text)) && strv_append(&list, text) < 0)
			r = no_memory(f);
	}
	if (r == 0 && in_order && (!list || !list[0][0]))
		r = key_fault_set(f, v, "'%s' must not be empty", k->path);
	if (r < 0 || !to)
		return r;
	strv_free(*to);
	*to = TAKE_PTR(list);
	return 0;
}

int key_list_set_extends(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars,
			 struct fault *f)
{
	_cleanup_free_ char *text = NULL;

	if (v->type == JDOC_STRING)
		return key_value_text(k, v, vars, &text, f);
	if (v->type != JDOC_ARRAY)
		return key_value_wrong_type(k, v, f);
	return key_list_set(k, v, vars, NULL, f);
}

int key_list_set_counts(const struct key_row *k, const struct jdoc *v, struct fault *f)
{
	uint64_t n;
	int r;

	r = require_list(k, v, f);
	for (size_t i = 0; r == 0 && i < v->n_items; i++)
		r = v->items[i]->type == JDOC_INT ? key_value_number(k, v->items[i], &n, f)
						  : key_value_wrong_type(k, v->items[i], f);
	return r;
}

int key_list_set_layers(const struct key_row *k, const struct jdoc *v, void *p, struct fault *f)
{
	uint32_t bits = 0;
	int r;

	r = require_list(k, v, f);
	for (size_t i = 0; r == 0 && i < v->n_items; i++) {
		r = key_value_require_word(k, v->items[i], f);
		if (r == 0)
			bits |= LAYER_BIT(layer_from_name(v->items[i]->string));
	}
	if (r == 0 && key_row_field(k, p))
		*(uint32_t *)key_row_field(k, p) = bits;
	return r;
}

static int set_object(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars,
		      void *to, struct fault *f)
{
	int r;

	if (v->type != JDOC_OBJECT)
		return key_value_wrong_type(k, v, f);
	for (const struct key_row *row = k->rows; row->path; row++)
		if (row->required && !jdoc_get(v, row->path))
			return key_fault_set(f, v, "'%s': each entry needs '%s'", k->path, row->path);
	r = key_table_fill(k->rows, NULL, v, vars, to, f);
	if (r == 0 && to)
		r = key_table_fill_defaults(k->rows, v, vars, to, f);
	return r;
}

int key_list_set_objects(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars,
			 void *p, struct fault *f)
{
	char **to = key_row_field(k, p), *items = NULL;
	int r;

	r = require_list(k, v, f);
	if (r == 0 && to && v->n_items > 0) {
		items = calloc(v->n_items, k->row_size);
		if (!items)
			return no_memory(f);
		/* The owner's destructor also frees a partly filled list. */
		*to = items;
		*(size_t *)(to + 1) = v->n_items;
	}
	for (size_t i = 0; r == 0 && i < v->n_items; i++)
		r = set_object(k, v->items[i], vars, items ? items + i * k->row_size : NULL, f);
	return r;
}

static int take_tmpfs(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars,
		      struct profile_tmpfs *ret, struct fault *f)
{
	_cleanup_free_ char *path = NULL;
	int r;

	if (v->type != JDOC_OBJECT)
		return key_value_wrong_type(k, v, f);
	for (size_t i = 0; i < v->n_members; i++) {
		const struct jdoc_member *m = &v->members[i];
		struct jdoc at = { .origin = v->origin, .line = m->line, .column = m->column };

		if (!str_eq(m->key, "path") && !str_eq(m->key, "size") && !key_name_is_free(m->key))
			return key_fault_set(f, &at, "unknown key '%s' in '%s'; allowed: path, size", m->key,
					     k->path);
	}
	if (!jdoc_get(v, "path") || !jdoc_get(v, "size"))
		return key_fault_set(f, v,
				     "'%s': each entry needs path and size, such as "
				     "{\"path\": \"/scratch\", \"size\": \"64M\"}",
				     k->path);
	r = key_value_path(k, jdoc_get(v, "path"), vars, &path, f);
	if (r == 0)
		r = key_value_number(k, jdoc_get(v, "size"), &ret->size, f);
	if (r == 0)
		ret->path = TAKE_PTR(path);
	return r;
}

int key_list_set_tmpfs(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars,
		       struct profile *p, struct fault *f)
{
	int r;

	r = require_list(k, v, f);
	if (r == 0 && p && v->n_items > 0) {
		p->fs_tmpfs = calloc(v->n_items, sizeof(*p->fs_tmpfs));
		if (!p->fs_tmpfs)
			return no_memory(f);
	}
	for (size_t i = 0; r == 0 && i < v->n_items; i++) {
		struct profile_tmpfs t = { 0 };

		r = take_tmpfs(k, v->items[i], vars, &t, f);
		if (r == 0 && p)
			p->fs_tmpfs[p->n_fs_tmpfs++] = t;
		else
			free(t.path);
	}
	return r;
}

int key_list_set_env(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars,
		     struct profile *p, struct fault *f)
{
	struct key_row value = *k;

	value.shape = NULL;
	if (v->type != JDOC_OBJECT)
		return key_value_wrong_type(k, v, f);
	if (v->n_members > KEY_LIST_MAX)
		return key_fault_set(f, v, "'%s' has %zu members, at most %d are allowed", k->path,
				     v->n_members, KEY_LIST_MAX);
	if (p && v->n_members > 0) {
		p->env_set = calloc(v->n_members, sizeof(*p->env_set));
		if (!p->env_set)
			return no_memory(f);
	}
	for (size_t i = 0; i < v->n_members; i++) {
		const struct jdoc_member *m = &v->members[i];
		struct jdoc at = { .origin = v->origin, .line = m->line, .column = m->column };
		_cleanup_free_ char *name = NULL, *text = NULL;
		int r;

		if (!k->shape->is(m->key))
			return key_fault_set(f, &at, "'%s': '%s' is not %s", k->path, m->key, k->shape->what);
		r = key_value_text(&value, m->value, vars, &text, f);
		if (r < 0)
			return r;
		name = strdup(m->key);
		if (!name)
			return no_memory(f);
		if (p)
			p->env_set[p->n_env_set++] =
				(struct profile_env_var){ .name = TAKE_PTR(name), .value = TAKE_PTR(text) };
	}
	return 0;
}
