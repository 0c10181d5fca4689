/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "oci/engine/engine-field.h"
#include "oci/engine/engine-impl.h"
#include "oci/engine/engine-limit-impl.h"

static void drop_unset(struct jdoc *object, const struct engine_limit *table);

static void drop_items(struct jdoc *list, const struct engine_limit *row)
{
	for (size_t i = 0; i < list->n_items;) {
		struct jdoc *item = list->items[i];
		bool any = item->type != JDOC_OBJECT;

		if (!any)
			drop_unset(item, row->in);
		for (const struct engine_limit *in = row->in; in->name; in++)
			any = any || jdoc_get(item, in->name);
		if (any)
			i++;
		else
			(void)jdoc_remove_item(list, i);
	}
}

static bool is_unset(const struct jdoc *v, const struct engine_limit *row)
{
	if (v->type == JDOC_INT)
		return v->integer == 0 && row &&
		       (row->zero == ENGINE_ZERO_UNSET || row->zero == ENGINE_ZERO_UNASKED);
	/* false is a value. */
	return v->type != JDOC_BOOL && engine_field_is_empty(v);
}

/* Members that engines send for "not set".  Those of no table stay, to be refused. */
static void drop_unset(struct jdoc *object, const struct engine_limit *table)
{
	for (size_t i = 0; i < object->n_members;) {
		struct jdoc *v = object->members[i].value;
		const struct engine_limit *row = engine_limit_find(table, object->members[i].key);

		if (row && row->kind == ENGINE_LIMIT_OBJECT && v->type == JDOC_OBJECT)
			drop_unset(v, row->in);
		else if (row && row->kind == ENGINE_LIMIT_LIST && v->type == JDOC_ARRAY)
			drop_items(v, row);
		else if (row && row->kind == ENGINE_LIMIT_FILES && v->type == JDOC_OBJECT)
			drop_unset(v, NULL);
		if (is_unset(v, row))
			(void)jdoc_remove(object, object->members[i].key);
		else
			i++;
	}
}

void engine_limits_drop_empty(struct jdoc *object)
{
	for (size_t i = 0; i < object->n_members;) {
		struct jdoc *v = object->members[i].value;

		if (v->type == JDOC_OBJECT)
			engine_limits_drop_empty(v);
		if ((v->type == JDOC_OBJECT || v->type == JDOC_ARRAY) && engine_field_is_empty(v))
			(void)jdoc_remove(object, object->members[i].key);
		else
			i++;
	}
}

int engine_limits_normalize(struct engine_limits *l, struct jdoc *asked, struct fault *f)
{
	int r = 0;

	if (l->v2)
		r = engine_unified_translate(l->approved, true, f);
	if (r == 0 && l->v2)
		r = engine_unified_translate(asked, false, f);
	if (r < 0)
		return fault_wrap(f, r, "not updated");
	drop_unset(asked, engine_limits);
	return 0;
}

void engine_limits_overlay(struct jdoc *to, const struct jdoc *from)
{
	for (size_t i = 0; i < from->n_members; i++) {
		const struct jdoc_member *m = from->members + i;
		struct jdoc *into = jdoc_get(to, m->key);

		if (engine_is(into, JDOC_OBJECT) && m->value->type == JDOC_OBJECT)
			engine_limits_overlay(into, m->value);
		else
			jdoc_set(to, m->key, jdoc_copy(m->value));
	}
}
