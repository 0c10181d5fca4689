/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/key-table.h"

#include <errno.h>
#include <string.h>

#include "layer/layer.h"
#include "profile/profile-impl.h"

bool key_text_has_only(const char *text, const char *set, size_t max)
{
	size_t n = strlen(text);

	return n > 0 && n <= max && strspn(text, set) == n;
}

bool key_row_is_in(const struct key_row *k, const char *section)
{
	size_t n = section ? strlen(section) : 0;

	if (!section)
		return !strchr(k->path, '.');
	return strncmp(k->path, section, n) == 0 && k->path[n] == '.' && !strchr(k->path + n + 1, '.');
}

const char *key_row_name(const struct key_row *k)
{
	const char *dot = strrchr(k->path, '.');

	return dot ? dot + 1 : k->path;
}

const struct key_row *key_table_find(const struct key_row *table, const char *section, const char *key)
{
	for (const struct key_row *k = table; k->path; k++)
		if (key_row_is_in(k, section) && strcmp(key_row_name(k), key) == 0)
			return k;
	return NULL;
}

static bool is_list(const struct key_row *k)
{
	return k->kind >= KEY_KIND_WORDS && k->kind != KEY_KIND_ENV;
}

bool key_name_is_free(const char *key)
{
	return str_starts(key, "x-") || str_eq(key, "$schema");
}

static struct jdoc *split_words(const char *text)
{
	struct jdoc *list = jdoc_new_array();

	while (list && *text) {
		char word[KEY_TEXT_MAX];
		size_t n = strcspn(text, " ");

		memcpy(word, text, n);
		word[n] = '\0';
		jdoc_append_string(list, word);
		text += n + strspn(text + n, " ");
	}
	return list;
}

struct jdoc *key_row_default(const struct key_row *k)
{
	uint64_t number;

	if (!k->fallback)
		return NULL;
	if (is_list(k))
		return split_words(k->fallback);
	if (k->kind == KEY_KIND_BOOL)
		return jdoc_new_bool(str_eq(k->fallback, "true"));
	if (str_to_u64(k->fallback, &number) == 0)
		return jdoc_new_int((int64_t)number);
	return jdoc_new_string(k->fallback);
}

static int add_layers(const char *prefix, char ***v)
{
	int r = 0;

	for (int i = 0; i < _LAYER_MAX && r == 0; i++)
		r = strv_appendf(v, "%s%s", prefix, layer_info((enum layer)i)->name);
	return r;
}

int key_row_vocabulary(const struct key_row *k, char ***ret)
{
	_cleanup_strv_ char **v = NULL;
	int r = 0;

	for (const struct key_word *w = k->words; w && w->word && r == 0; w++)
		r = strv_append(&v, w->word);
	if (r == 0 && k->kind == KEY_KIND_LAYERS)
		r = add_layers("", &v);
	if (r == 0 && k->kind == KEY_KIND_DANGERS) {
		for (size_t i = 0; r == 0 && profile_danger_at(i); i++)
			r = strv_append(&v, profile_danger_at(i)->word);
		if (r == 0)
			r = add_layers("no-", &v);
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(v);
	return 0;
}

static int unknown_key(const struct key_row *table, const char *section, const struct jdoc *object,
		       const struct jdoc_member *m, struct fault *f)
{
	struct jdoc at = { .origin = object->origin, .line = m->line, .column = m->column };
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_strv_ char **near = NULL;
	int best;

	for (const struct key_row *k = table; k->path; k++)
		if (key_row_is_in(k, section) && strv_append(&near, key_row_name(k)) < 0)
			return fault_errno(f, ENOMEM, "profile");
	best = str_nearest(m->key, (const char *const *)near);

	strbuf_printf(&b, "unknown key '%s%s%s'", section ? section : "", section ? "." : "", m->key);
	if (best >= 0)
		strbuf_printf(&b, ": did you mean '%s'?", near[best]);
	strbuf_puts(&b, best >= 0 ? " allowed here: " : "; allowed here: ");
	for (size_t i = 0; near && near[i]; i++)
		strbuf_printf(&b, "%s%s", i ? ", " : "", near[i]);
	strbuf_puts(&b, " (and x-... for keys of your own)");
	return key_fault_set(f, &at, "%s", b.broken ? "unknown key" : b.text);
}

/* Checks that every member of OBJECT is a known key with a valid value; P may be NULL. */
int key_table_fill(const struct key_row *table, const char *section, const struct jdoc *object,
		   const struct profile_vars *vars, void *p, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; i < object->n_members && r == 0; i++) {
		const struct jdoc_member *m = &object->members[i];
		const struct key_row *k;

		if (key_name_is_free(m->key))
			continue;
		k = key_table_find(table, section, m->key);
		if (!k)
			return unknown_key(table, section, object, m, f);
		r = key_row_set(k, m->value, vars, p, f);
		if (r == 0 && k->kind == KEY_KIND_SECTION)
			r = key_table_fill(table, k->path, m->value, vars, p, f);
	}
	return r;
}

/* The value of row K in DOC, or NULL. */
const struct jdoc *key_row_value(const struct key_row *k, const struct jdoc *doc)
{
	const char *dot = strchr(k->path, '.');
	char section[64];

	if (!dot)
		return jdoc_get(doc, k->path);
	memcpy(section, k->path, (size_t)(dot - k->path));
	section[dot - k->path] = '\0';
	return jdoc_get(jdoc_get(doc, section), dot + 1);
}

int key_table_fill_defaults(const struct key_row *table, const struct jdoc *doc,
			    const struct profile_vars *vars, void *p, struct fault *f)
{
	for (const struct key_row *k = table; k->path; k++) {
		_cleanup_jdoc_ struct jdoc *v = NULL;
		int r;

		if (!k->fallback || k->offset == KEY_NO_FIELD || key_row_value(k, doc))
			continue;
		v = key_row_default(k);
		if (!v || v->broken)
			return fault_errno(f, ENOMEM, "profile");
		r = profile_expand_tree(v, vars, f);
		if (r == 0)
			r = key_row_set(k, v, vars, p, f);
		if (r < 0)
			return fault_wrap(f, r, "default of '%s'", k->path);
	}
	return 0;
}
