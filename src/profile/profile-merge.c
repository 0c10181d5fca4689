/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile-impl.h"

#include <errno.h>
#include <string.h>

/*
 * Objects in a list are identified by their path: the child's entry replaces the parent's entry of the same
 * path.
 */
static bool is_same_item(const struct jdoc *a, const struct jdoc *b)
{
	const char *x = jdoc_get_string(a, "path"), *y = jdoc_get_string(b, "path");

	if (x && y)
		return strcmp(x, y) == 0;
	return jdoc_equal(a, b);
}

static void merge_array(struct jdoc *into, const struct jdoc *from)
{
	for (size_t i = 0; i < from->n_items; i++) {
		struct jdoc *item = jdoc_copy(from->items[i]);
		size_t j = 0;

		while (j < into->n_items && !is_same_item(into->items[j], from->items[i]))
			j++;
		if (j == into->n_items) {
			jdoc_append(into, item);
		} else if (item && !jdoc_equal(into->items[j], item)) {
			jdoc_free(into->items[j]);
			into->items[j] = item;
		} else {
			into->broken |= !item;
			jdoc_free(item);
		}
	}
}

static void merge_object(struct jdoc *into, const struct jdoc *from)
{
	for (size_t i = 0; i < from->n_members; i++) {
		const struct jdoc_member *m = &from->members[i];
		struct jdoc *old = jdoc_get(into, m->key);

		if (old && old->type == JDOC_OBJECT && m->value->type == JDOC_OBJECT)
			merge_object(old, m->value);
		else if (old && old->type == JDOC_ARRAY && m->value->type == JDOC_ARRAY)
			merge_array(old, m->value);
		else
			jdoc_set(into, m->key, jdoc_copy(m->value));
	}
}

/* Keys of one file that children do not inherit. */
static bool is_own(const char *key)
{
	return strcmp(key, "name") == 0 || strcmp(key, "description") == 0 || strcmp(key, "extends") == 0 ||
	       strcmp(key, "remove") == 0 || key_name_is_free(key);
}

int profile_merge(const struct jdoc *parent, const struct jdoc *child, struct jdoc **ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = jdoc_copy(parent);
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (!doc)
		return fault_errno(f, ENOMEM, "merge profiles");
	for (size_t i = doc->n_members; i > 0; i--)
		if (is_own(doc->members[i - 1].key))
			(void)jdoc_remove(doc, doc->members[i - 1].key);
	merge_object(doc, child);
	/* A failed allocation in the tree is detected when the tree is written. */
	if (jdoc_write(doc, JDOC_CANONICAL, &b, f) < 0)
		return fault_errno(f, ENOMEM, "merge profiles");
	*ret = TAKE_PTR(doc);
	return 0;
}

/* One step of a pointer: the child of V named TOKEN (unescaped). */
static struct jdoc *step(const struct jdoc *v, const char *token)
{
	uint64_t index;

	if (v->type == JDOC_OBJECT)
		return jdoc_get(v, token);
	/* RFC 6901: no leading zeros. */
	if (v->type != JDOC_ARRAY || (token[0] == '0' && token[1]) || str_to_u64(token, &index) < 0 ||
	    index >= v->n_items)
		return NULL;
	return v->items[index];
}

/* "~1" is '/', "~0" is '~', in this order. */
static void unescape(char *token)
{
	char *to = token;

	for (const char *c = token; *c; c++) {
		if (c[0] == '~' && c[1])
			*to++ = *++c == '1' ? '/' : '~';
		else
			*to++ = *c;
	}
	*to = '\0';
}

static int resolve(struct jdoc *doc, const struct jdoc *pointer, struct jdoc **ret, struct fault *f)
{
	_cleanup_free_ char *text = strdup(pointer->string);
	char *rest = text, *token;
	struct jdoc *v = doc;

	if (!text)
		return fault_errno(f, ENOMEM, "remove");
	for ((void)strsep(&rest, "/"); v && (token = strsep(&rest, "/"));) {
		unescape(token);
		v = step(v, token);
	}
	if (!v)
		return key_fault_set(
			f, pointer,
			"'remove': '%s' matches nothing in the merged parent; see custody profile show",
			pointer->string);
	*ret = v;
	return 0;
}

static bool is_marked(const struct jdoc *v, struct jdoc *const *marked, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (marked[i] == v)
			return true;
	return false;
}

static void sweep(struct jdoc *v, struct jdoc *const *marked, size_t n)
{
	for (size_t i = v->type == JDOC_ARRAY ? v->n_items : 0; i > 0; i--) {
		if (is_marked(v->items[i - 1], marked, n))
			(void)jdoc_remove_item(v, i - 1);
		else
			sweep(v->items[i - 1], marked, n);
	}
	for (size_t i = v->type == JDOC_OBJECT ? v->n_members : 0; i > 0; i--) {
		if (is_marked(v->members[i - 1].value, marked, n))
			(void)jdoc_remove(v, v->members[i - 1].key);
		else
			sweep(v->members[i - 1].value, marked, n);
	}
}

int profile_remove(struct jdoc *doc, const struct jdoc *pointers, struct fault *f)
{
	_cleanup_free_ struct jdoc **marked = calloc(pointers->n_items + 1, sizeof(struct jdoc *));
	int r = 0;

	if (!marked)
		return fault_errno(f, ENOMEM, "remove");
	/* Resolve all before removing any: indices refer to the parent as printed. */
	for (size_t i = 0; i < pointers->n_items && r == 0; i++)
		r = resolve(doc, pointers->items[i], &marked[i], f);
	if (r == 0)
		sweep(doc, marked, pointers->n_items);
	return r;
}
