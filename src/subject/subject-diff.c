/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/subject-diff.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

#define VALUE_MAX 120 /* of a text in a line for people */

/* NULL means missing, on either side. */
static void compare(struct jdoc *list, const char *path, const struct jdoc *was, const struct jdoc *is);

static void add_sides(struct jdoc *list, const char *path, const struct jdoc *was, const struct jdoc *is)
{
	struct jdoc *item = jdoc_append_object(list);

	jdoc_set_string(item, "path", path);
	if (was)
		jdoc_set(item, "was", jdoc_copy(was));
	if (is)
		jdoc_set(item, "is", jdoc_copy(is));
}

static void add_change(struct jdoc *list, const char *path, const char *name, bool was, bool is)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };
	struct jdoc *item = jdoc_append_object(list);

	strbuf_printf(&t, "%s.%s", path, name);
	jdoc_set_string(item, "path", t.broken ? NULL : t.text);
	jdoc_set_string(item, "change", was && is ? "changed" : is ? "added" : "removed");
}

/* The value of variable NAME (LEN bytes) in process.env of a config.json: ["NAME=value", ...]. */
static const struct jdoc *find_var(const struct jdoc *env, const char *name, size_t len)
{
	for (size_t i = 0; env && env->type == JDOC_ARRAY && i < env->n_items; i++) {
		const struct jdoc *v = env->items[i];

		if (v->type == JDOC_STRING && strcspn(v->string, "=") == len &&
		    memcmp(v->string, name, len) == 0)
			return v;
	}
	return NULL;
}

static void compare_var(struct jdoc *list, const char *path, const struct jdoc *v, const struct jdoc *was,
			const struct jdoc *is)
{
	size_t len = v->type == JDOC_STRING ? strcspn(v->string, "=") : 0;
	_cleanup_free_ char *name = len ? strndup(v->string, len) : strdup("(no name)");
	const struct jdoc *a = find_var(was, len ? name : "", len), *b = find_var(is, len ? name : "", len);

	if (!name)
		list->broken = true;
	else if (!jdoc_equal(a, b))
		add_change(list, path, name, a, b);
}

/* Names only: neither values of a config.json's environment nor HMACs are shown. */
static void compare_env_list(struct jdoc *list, const char *path, const struct jdoc *was,
			     const struct jdoc *is)
{
	for (size_t i = 0; i < was->n_items; i++)
		compare_var(list, path, was->items[i], was, is);
	for (size_t i = 0; i < is->n_items; i++)
		if (is->items[i]->type != JDOC_STRING ||
		    !find_var(was, is->items[i]->string, strcspn(is->items[i]->string, "=")))
			compare_var(list, path, is->items[i], was, is);
}

typedef void member_fn(struct jdoc *list, const char *path, const char *key, const struct jdoc *was,
		       const struct jdoc *is);

/* Members are sorted by key: both are merged in one pass. */
static void merge(struct jdoc *list, const char *path, const struct jdoc *was, const struct jdoc *is,
		  member_fn *fn)
{
	size_t i = 0, k = 0;

	while (i < was->n_members || k < is->n_members) {
		int c = i == was->n_members  ? 1
			: k == is->n_members ? -1
					     : strcmp(was->members[i].key, is->members[k].key);
		const struct jdoc *a = c <= 0 ? was->members[i].value : NULL,
				  *b = c >= 0 ? is->members[k].value : NULL;

		fn(list, path, c <= 0 ? was->members[i].key : is->members[k].key, a, b);
		i += c <= 0;
		k += c >= 0;
	}
}

static void compare_env_member(struct jdoc *list, const char *path, const char *name, const struct jdoc *was,
			       const struct jdoc *is)
{
	if (!jdoc_equal(was, is))
		add_change(list, path, name, was, is);
}

static void compare_member(struct jdoc *list, const char *path, const char *key, const struct jdoc *was,
			   const struct jdoc *is)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	strbuf_printf(&t, "%s%s%s", path, path[0] ? "." : "", key);
	if (t.broken)
		list->broken = true;
	else
		compare(list, t.text, was, is);
}

/* How many of the last items are the same, of at most MAX. */
static size_t count_same_end(const struct jdoc *was, const struct jdoc *is, size_t max)
{
	size_t n = 0;

	while (n < max && jdoc_equal(was->items[was->n_items - 1 - n], is->items[is->n_items - 1 - n]))
		n++;
	return n;
}

/* An item that was added or removed in between is one difference: those behind it have only moved. */
static void compare_items(struct jdoc *list, const char *path, const struct jdoc *was, const struct jdoc *is)
{
	size_t least = was->n_items < is->n_items ? was->n_items : is->n_items, i = 0, end, n_was, n_is;

	while (i < least && jdoc_equal(was->items[i], is->items[i]))
		i++;
	end = was->n_items == is->n_items ? 0 : count_same_end(was, is, least - i);
	n_was = was->n_items - end;
	n_is = is->n_items - end;
	for (; i < n_was || i < n_is; i++) {
		_cleanup_strbuf_ struct strbuf t = { 0 };

		strbuf_printf(&t, "%s[%zu]", path, i);
		if (t.broken)
			list->broken = true;
		else
			compare(list, t.text, i < n_was ? was->items[i] : NULL,
				i < n_is ? is->items[i] : NULL);
	}
}

static bool is_env(const char *path)
{
	return strcmp(path, "env") == 0 || str_ends(path, "process.env") || str_ends(path, "subject.env");
}

/* HMACs of redacted words: the words themselves are compared in argv. */
static bool is_redacted(const char *path)
{
	return strcmp(path, "redacted") == 0 || str_ends(path, "subject.redacted");
}

static void compare(struct jdoc *list, const char *path, const struct jdoc *was, const struct jdoc *is)
{
	static const struct jdoc empty_object = { .type = JDOC_OBJECT }, empty_array = { .type = JDOC_ARRAY };
	enum jdoc_type type = was ? was->type : is ? is->type : JDOC_NULL;

	if (!list || jdoc_equal(was, is))
		return;
	if (is_env(path) && (type == JDOC_OBJECT || type == JDOC_ARRAY)) {
		const struct jdoc *none = type == JDOC_OBJECT ? &empty_object : &empty_array;
		const struct jdoc *a = was ? was : none, *b = is && is->type == type ? is : none;

		if (type == JDOC_OBJECT)
			merge(list, path, a, b, compare_env_member);
		else
			compare_env_list(list, path, a, b);
	} else if (is_env(path) || is_redacted(path)) {
		add_change(list, path, "*", was, is);
	} else if (was && is && was->type == is->type && type == JDOC_OBJECT) {
		merge(list, path, was, is, compare_member);
	} else if (was && is && was->type == is->type && type == JDOC_ARRAY) {
		compare_items(list, path, was, is);
	} else {
		add_sides(list, path, was, is);
	}
}

struct jdoc *subject_diff(const struct jdoc *was, const struct jdoc *is)
{
	struct jdoc *list = jdoc_new_array();

	compare(list, "", was, is);
	return list;
}

static int print_value(const struct jdoc *v, struct strbuf *out, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf raw = { 0 };
	_cleanup_free_ char *text = NULL;
	bool quote = v->type == JDOC_STRING;
	size_t len;
	int r = 0;

	if (quote)
		strbuf_puts(&raw, v->string);
	else
		r = jdoc_write(v, JDOC_CANONICAL, &raw, f);
	if (r < 0)
		return r;
	text = raw.broken ? NULL : str_escape(raw.text ? raw.text : "");
	if (!text)
		return fault_errno(f, ENOMEM, "difference");
	len = strlen(text);
	for (size_t cut = VALUE_MAX; len > VALUE_MAX && len > cut; len = cut)
		while ((text[cut] & 0xc0) == 0x80)
			cut--;
	strbuf_printf(out, "%s%.*s%s%s", quote ? "'" : "", (int)len, text, text[len] ? "..." : "",
		      quote ? "'" : "");
	return 0;
}

static int print_item(const struct jdoc *item, struct strbuf *out, struct fault *f)
{
	const char *path = jdoc_get_string(item, "path"), *change = jdoc_get_string(item, "change");
	const struct jdoc *was = jdoc_get(item, "was"), *is = jdoc_get(item, "is");
	_cleanup_free_ char *name = str_escape(path ? path : "?");
	int r = 0;

	if (!name)
		return fault_errno(f, ENOMEM, "difference");
	strbuf_printf(out, "%s: ", name[0] ? name : "all of it");
	if (change) {
		strbuf_puts(out, change);
	} else {
		strbuf_puts(out, was ? "was " : "was unset");
		if (was)
			r = print_value(was, out, f);
		strbuf_puts(out, is ? ", is " : ", is unset");
		if (r == 0 && is)
			r = print_value(is, out, f);
	}
	strbuf_putc(out, '\n');
	return r;
}

int subject_diff_print(const struct jdoc *diff, size_t max, struct strbuf *out, struct fault *f)
{
	int r = 0;

	if (!diff || diff->type != JDOC_ARRAY || diff->broken)
		return fault_errno(f, ENOMEM, "difference");
	for (size_t i = 0; r == 0 && i < diff->n_items && i < max; i++)
		r = print_item(diff->items[i], out, f);
	if (diff->n_items > max)
		strbuf_printf(out, "and %zu more\n", diff->n_items - max);
	if (r == 0 && out->broken)
		return fault_errno(f, ENOMEM, "difference");
	return r;
}
