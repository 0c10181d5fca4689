/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd-profile.h"
#include "base/exit-status.h"
#include "profile/profile-key.h"

/* What holds for row K: said or default; *RET NULL when neither. */
static struct jdoc *effective(const struct profile_key *k, const struct profile *p,
			      const struct profile_vars *vars)
{
	const struct jdoc *said = profile_key_value(k, p->document);
	struct jdoc *v = said ? jdoc_copy(said) : profile_key_default(k);

	if (v && profile_expand_tree(v, vars, NULL) < 0) {
		jdoc_free(v);
		return NULL;
	}
	return v;
}

static const char *relation(const struct profile_key *k, const struct profile *a, const struct profile *b)
{
	bool down = profile_key_is_tighter(k, a, b), up = profile_key_is_tighter(k, b, a);

	if (k->offset == PROFILE_NO_FIELD)
		return "unknown";
	if (down && up)
		return "equal";
	return down ? "tighter" : "looser";
}

static void set_or_null(struct jdoc *entry, const char *key, const struct jdoc *v)
{
	jdoc_set(entry, key, v ? jdoc_copy(v) : jdoc_new_null());
}

/* Two spellings of one number are no difference. */
static bool is_same_value(const struct profile_key *k, const struct profile *a, const struct profile *b,
			  const struct jdoc *x, const struct jdoc *y)
{
	if (!x || !y)
		return x == y;
	if (jdoc_equal(x, y))
		return true;
	if (k->kind < PROFILE_KIND_COUNT || k->kind > PROFILE_KIND_PERCENT || k->offset == PROFILE_NO_FIELD)
		return false;
	return memcmp((const char *)a + k->offset, (const char *)b + k->offset, sizeof(uint64_t)) == 0;
}

static int compare(const struct profile *a, const struct profile *b, const struct profile_vars *vars,
		   struct jdoc *list)
{
	for (const struct profile_key *k = profile_keys(); k->path; k++) {
		_cleanup_jdoc_ struct jdoc *x = NULL, *y = NULL;
		struct jdoc *entry;

		if (k->kind == PROFILE_KIND_SECTION || str_eq(k->path, "name") ||
		    str_eq(k->path, "description"))
			continue;
		x = effective(k, a, vars);
		y = effective(k, b, vars);
		if (is_same_value(k, a, b, x, y))
			continue;
		entry = jdoc_append_object(list);
		if (!entry)
			return -ENOMEM;
		jdoc_set_string(entry, "key", k->path);
		set_or_null(entry, "a", x);
		set_or_null(entry, "b", y);
		jdoc_set_string(entry, "relation", relation(k, a, b));
	}
	return 0;
}

static bool has_item(const struct jdoc *list, const struct jdoc *item)
{
	for (size_t i = 0; i < list->n_items; i++)
		if (jdoc_equal(list->items[i], item))
			return true;
	return false;
}

static int print_side(char sign, const char *key, const struct jdoc *v, const struct jdoc *other,
		      struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	int r = 0;

	if (v->type == JDOC_NULL)
		return 0;
	if (v->type == JDOC_ARRAY) {
		for (size_t i = 0; i < v->n_items && r == 0; i++)
			if (other->type != JDOC_ARRAY || !has_item(other, v->items[i]))
				r = print_side(sign, key, v->items[i], v->items[i], f);
		return r;
	}
	text = profile_value_text(v);
	if (!text)
		return fault_errno(f, ENOMEM, "profile");
	printf("%c %s %s\n", sign, key, text);
	return 0;
}

static int print_text(const struct jdoc *list, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; i < list->n_items && r == 0; i++) {
		const struct jdoc *e = list->items[i], *a = jdoc_get(e, "a"), *b = jdoc_get(e, "b");
		const char *key = jdoc_get_string(e, "key");

		printf("@ %s: %s\n", key, jdoc_get_string(e, "relation"));
		r = print_side('-', key, a, b, f);
		if (r == 0)
			r = print_side('+', key, b, a, f);
	}
	return r < 0 ? r : profile_flush(f);
}

int profile_diff(const struct profile_call *c, struct fault *f)
{
	_cleanup_profile_place_ struct profile_place place = { 0 };
	_cleanup_profile_ struct profile *a = NULL, *b = NULL;
	_cleanup_jdoc_ struct jdoc *doc = jdoc_new_object();
	struct jdoc *list;
	int r;

	r = profile_place_init(&place, f);
	if (r == 0)
		r = profile_load(c->args[0], &place.src, &place.vars, &a, f);
	if (r == 0)
		r = profile_load(c->args[1], &place.src, &place.vars, &b, f);
	if (r < 0)
		return r;
	jdoc_set_int(doc, "schema_version", 1);
	jdoc_set_string(doc, "a", a->path);
	jdoc_set_string(doc, "b", b->path);
	list = jdoc_set_array(doc, "differences");
	if (!list || compare(a, b, &place.vars, list) < 0)
		return fault_errno(f, ENOMEM, "profile");
	jdoc_set_bool(doc, "equal", list->n_items == 0);
	r = c->json ? profile_print(doc, f) : print_text(list, f);
	if (r < 0)
		return r;
	return list->n_items == 0 ? STATUS_OK : STATUS_NO;
}
