/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd-profile.h"
#include "base/exit-status.h"
#include "profile/profile-diff.h"

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

int cmd_profile_diff(struct command_call *c, struct fault *f)
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
	if (!list || profile_diff_keys(a, b, &place.vars, list) < 0)
		return fault_errno(f, ENOMEM, "profile");
	jdoc_set_bool(doc, "equal", list->n_items == 0);
	r = c->json ? profile_print(doc, f) : print_text(list, f);
	if (r < 0)
		return r;
	return list->n_items == 0 ? STATUS_OK : STATUS_NO;
}
