/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include <string.h>

#include "base/json-tree.h"

static struct jdoc *new_value(enum jdoc_type type)
{
	struct jdoc *d = calloc(1, sizeof(*d));

	if (d)
		d->type = type;
	return d;
}

struct jdoc *jdoc_new_null(void)
{
	return new_value(JDOC_NULL);
}

struct jdoc *jdoc_new_bool(bool value)
{
	struct jdoc *d = new_value(JDOC_BOOL);

	if (d)
		d->boolean = value;
	return d;
}

struct jdoc *jdoc_new_int(int64_t value)
{
	struct jdoc *d = new_value(JDOC_INT);

	if (d)
		d->integer = value;
	return d;
}

struct jdoc *jdoc_new_string(const char *value)
{
	struct jdoc *d = new_value(JDOC_STRING);

	if (!d)
		return NULL;
	if (value && str_is_utf8(value, strlen(value)))
		d->string = strdup(value);
	d->broken = !d->string;
	return d;
}

struct jdoc *jdoc_new_array(void)
{
	return new_value(JDOC_ARRAY);
}

struct jdoc *jdoc_new_object(void)
{
	return new_value(JDOC_OBJECT);
}

void jdoc_free(struct jdoc *d)
{
	if (!d)
		return;
	if (d->type == JDOC_STRING)
		free(d->string);
	if (d->type == JDOC_ARRAY) {
		for (size_t i = 0; i < d->n_items; i++)
			jdoc_free(d->items[i]);
		free(d->items);
	}
	if (d->type == JDOC_OBJECT) {
		for (size_t i = 0; i < d->n_members; i++) {
			free(d->members[i].key);
			jdoc_free(d->members[i].value);
		}
		free(d->members);
	}
	free(d);
}

/*
 * Room for one more element.  The capacity is not stored: it is 4, then the next power of two, so a full
 * array is one whose count is 0 or a power of two from 4 on.
 */
static bool grow(void **elements, size_t n, size_t size)
{
	void *grown;

	if (n != 0 && (n < 4 || (n & (n - 1)) != 0))
		return true;
	grown = reallocarray(*elements, n ? n * 2 : 4, size);
	if (!grown)
		return false;
	*elements = grown;
	return true;
}

bool jdoc_grow_items(struct jdoc *array)
{
	void *items = array->items;

	if (!grow(&items, array->n_items, sizeof(*array->items)))
		return false;
	array->items = items;
	return true;
}

bool jdoc_grow_members(struct jdoc *object)
{
	void *members = object->members;

	if (!grow(&members, object->n_members, sizeof(*object->members)))
		return false;
	object->members = members;
	return true;
}

/* Index of KEY, or its insertion point. */
static size_t find(const struct jdoc *object, const char *key, bool *ret_found)
{
	size_t low = 0, high = object->n_members;

	*ret_found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(object->members[middle].key, key);

		if (order == 0) {
			*ret_found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* True when VALUE now belongs to OBJECT. */
static bool set(struct jdoc *object, const char *key, struct jdoc *value)
{
	_cleanup_free_ char *copy = NULL;
	bool found;
	size_t at;

	if (!key || !value || object->type != JDOC_OBJECT || !str_is_utf8(key, strlen(key)))
		return false;
	at = find(object, key, &found);
	if (found) {
		jdoc_free(object->members[at].value);
		object->members[at].value = value;
		return true;
	}
	copy = strdup(key);
	if (!copy || !jdoc_grow_members(object))
		return false;
	memmove(object->members + at + 1, object->members + at,
		(object->n_members - at) * sizeof(*object->members));
	object->members[at] = (struct jdoc_member){ .key = TAKE_PTR(copy), .value = value };
	object->n_members++;
	return true;
}

static bool append(struct jdoc *array, struct jdoc *value)
{
	if (!value || array->type != JDOC_ARRAY || !jdoc_grow_items(array))
		return false;
	array->items[array->n_items++] = value;
	return true;
}

void jdoc_set(struct jdoc *object, const char *key, struct jdoc *value)
{
	if (object && set(object, key, value))
		return;
	if (object)
		object->broken = true;
	jdoc_free(value);
}

void jdoc_append(struct jdoc *array, struct jdoc *value)
{
	if (array && append(array, value))
		return;
	if (array)
		array->broken = true;
	jdoc_free(value);
}

void jdoc_set_string(struct jdoc *object, const char *key, const char *value)
{
	jdoc_set(object, key, jdoc_new_string(value));
}

void jdoc_set_int(struct jdoc *object, const char *key, int64_t value)
{
	jdoc_set(object, key, jdoc_new_int(value));
}

void jdoc_set_bool(struct jdoc *object, const char *key, bool value)
{
	jdoc_set(object, key, jdoc_new_bool(value));
}

void jdoc_append_string(struct jdoc *array, const char *value)
{
	jdoc_append(array, jdoc_new_string(value));
}

/* CHILD under KEY, or NULL: then the container is marked broken, and further calls on NULL do nothing. */
static struct jdoc *set_child(struct jdoc *object, const char *key, struct jdoc *child)
{
	if (object && set(object, key, child))
		return child;
	if (object)
		object->broken = true;
	jdoc_free(child);
	return NULL;
}

struct jdoc *jdoc_set_object(struct jdoc *object, const char *key)
{
	return set_child(object, key, jdoc_new_object());
}

struct jdoc *jdoc_set_array(struct jdoc *object, const char *key)
{
	return set_child(object, key, jdoc_new_array());
}

struct jdoc *jdoc_append_object(struct jdoc *array)
{
	struct jdoc *child = jdoc_new_object();

	if (array && append(array, child))
		return child;
	if (array)
		array->broken = true;
	jdoc_free(child);
	return NULL;
}

struct jdoc *jdoc_get(const struct jdoc *object, const char *key)
{
	bool found;
	size_t at;

	if (!object || object->type != JDOC_OBJECT)
		return NULL;
	at = find(object, key, &found);
	return found ? object->members[at].value : NULL;
}

const char *jdoc_get_string(const struct jdoc *object, const char *key)
{
	const struct jdoc *value = jdoc_get(object, key);

	return value && value->type == JDOC_STRING ? value->string : NULL;
}

bool jdoc_remove(struct jdoc *object, const char *key)
{
	struct jdoc_member *m;
	bool found;
	size_t at;

	if (!object || object->type != JDOC_OBJECT)
		return false;
	at = find(object, key, &found);
	if (!found)
		return false;
	m = object->members + at;
	free(m->key);
	jdoc_free(m->value);
	memmove(m, m + 1, (--object->n_members - at) * sizeof(*m));
	return true;
}

bool jdoc_remove_item(struct jdoc *array, size_t index)
{
	struct jdoc **item;

	if (!array || array->type != JDOC_ARRAY || index >= array->n_items)
		return false;
	item = array->items + index;
	jdoc_free(*item);
	memmove(item, item + 1, (--array->n_items - index) * sizeof(*item));
	return true;
}

static void copy_children(struct jdoc *copy, const struct jdoc *d)
{
	if (d->type == JDOC_ARRAY)
		for (size_t i = 0; i < d->n_items; i++)
			jdoc_append(copy, jdoc_copy(d->items[i]));
	if (d->type == JDOC_OBJECT)
		for (size_t i = 0; i < d->n_members; i++) {
			const struct jdoc_member *m = d->members + i;
			size_t n = copy->n_members;

			jdoc_set(copy, m->key, jdoc_copy(m->value));
			if (copy->n_members == n)
				return;
			/* Sorted already, so each one is appended at the end. */
			copy->members[n].line = m->line;
			copy->members[n].column = m->column;
		}
}

struct jdoc *jdoc_copy(const struct jdoc *d)
{
	struct jdoc *copy;

	if (!d)
		return NULL;
	copy = d->type == JDOC_STRING ? jdoc_new_string(d->string) : new_value(d->type);
	if (!copy)
		return NULL;
	copy->broken |= d->broken;
	copy->origin = d->origin;
	copy->line = d->line;
	copy->column = d->column;
	if (d->type == JDOC_BOOL)
		copy->boolean = d->boolean;
	if (d->type == JDOC_INT) {
		copy->integer = d->integer;
		copy->wide = d->wide;
	}
	copy_children(copy, d);
	return copy;
}

static bool arrays_equal(const struct jdoc *a, const struct jdoc *b)
{
	if (a->n_items != b->n_items)
		return false;
	for (size_t i = 0; i < a->n_items; i++)
		if (!jdoc_equal(a->items[i], b->items[i]))
			return false;
	return true;
}

static bool objects_equal(const struct jdoc *a, const struct jdoc *b)
{
	if (a->n_members != b->n_members)
		return false;
	for (size_t i = 0; i < a->n_members; i++)
		if (strcmp(a->members[i].key, b->members[i].key) != 0 ||
		    !jdoc_equal(a->members[i].value, b->members[i].value))
			return false;
	return true;
}

bool jdoc_equal(const struct jdoc *a, const struct jdoc *b)
{
	/* A broken tree is incomplete, so it equals nothing. */
	if (!a || !b || a->type != b->type || a->broken || b->broken)
		return false;
	switch (a->type) {
	case JDOC_NULL:
		return true;
	case JDOC_BOOL:
		return a->boolean == b->boolean;
	case JDOC_INT:
		return a->integer == b->integer && a->wide == b->wide;
	case JDOC_STRING:
		return strcmp(a->string, b->string) == 0;
	case JDOC_ARRAY:
		return arrays_equal(a, b);
	case JDOC_OBJECT:
		return objects_equal(a, b);
	}
	return false;
}

const char *jdoc_type_name(enum jdoc_type type)
{
	static const char *const names[] = {
		[JDOC_NULL] = "null",	  [JDOC_BOOL] = "true or false", [JDOC_INT] = "number",
		[JDOC_STRING] = "string", [JDOC_ARRAY] = "array",	 [JDOC_OBJECT] = "object",
	};

	return names[type];
}
