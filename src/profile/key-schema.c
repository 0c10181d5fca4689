/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "profile/profile-impl.h"

#define PATH_PATTERN "^(/|\\$\\{)" /* the path may begin with a variable */
#define SIZE_PATTERN "^[0-9]+[KMGT]?$"

static struct jdoc *of_type(const char *type)
{
	struct jdoc *s = jdoc_new_object();

	jdoc_set_string(s, "type", type);
	return s;
}

static struct jdoc *matching(const char *pattern)
{
	struct jdoc *s = of_type("string");

	if (pattern)
		jdoc_set_string(s, "pattern", pattern);
	return s;
}

static struct jdoc *list_of(struct jdoc *item)
{
	struct jdoc *s = of_type("array");

	jdoc_set_int(s, "maxItems", KEY_LIST_MAX);
	jdoc_set(s, "items", item);
	return s;
}

static struct jdoc *one_of(struct jdoc *a, struct jdoc *b, struct jdoc *c)
{
	struct jdoc *s = jdoc_new_object(), *any = jdoc_set_array(s, "anyOf");

	jdoc_append(any, a);
	jdoc_append(any, b);
	if (c)
		jdoc_append(any, c);
	return s;
}

static struct jdoc *vocabulary(const struct key_row *k)
{
	_cleanup_strv_ char **words = NULL;
	struct jdoc *s = of_type("string"), *list;

	if (key_row_vocabulary(k, &words) < 0) {
		jdoc_free(s);
		return NULL;
	}
	list = jdoc_set_array(s, "enum");
	for (size_t i = 0; words && words[i]; i++)
		jdoc_append_string(list, words[i]);
	return s;
}

static struct jdoc *integer(const struct key_row *k)
{
	struct jdoc *s = of_type("integer");

	jdoc_set_int(s, "minimum", k->none ? 0 : (int64_t)k->min);
	jdoc_set_int(s, "maximum", (int64_t)k->max);
	return s;
}

static struct jdoc *none(const struct key_row *k)
{
	struct jdoc *s;

	if (!k->none)
		return NULL;
	s = jdoc_new_object();
	jdoc_set_string(s, "const", "none");
	return s;
}

static struct jdoc *with_unit(const struct key_row *k, const char *pattern)
{
	return one_of(integer(k), matching(pattern), none(k));
}

static struct jdoc *tmpfs(const struct key_row *k)
{
	struct jdoc *s = of_type("object"), *required, *properties;

	jdoc_set_bool(s, "additionalProperties", false);
	required = jdoc_set_array(s, "required");
	jdoc_append_string(required, "path");
	jdoc_append_string(required, "size");
	properties = jdoc_set_object(s, "properties");
	jdoc_set(properties, "path", matching(PATH_PATTERN));
	jdoc_set(properties, "size", with_unit(k, SIZE_PATTERN));
	return list_of(s);
}

static struct jdoc *variables(const struct key_row *k)
{
	struct jdoc *s = of_type("object");

	jdoc_set(s, "propertyNames", matching(k->shape->pattern));
	jdoc_set(s, "additionalProperties", of_type("string"));
	return s;
}

static struct jdoc *objects(const struct key_row *k)
{
	struct jdoc *s = of_type("object"), *required = jdoc_new_array();

	for (const struct key_row *row = k->rows; row->path; row++)
		if (row->required)
			jdoc_append_string(required, row->path);
	jdoc_set(s, "required", required);
	key_table_schema(s, k->rows, NULL);
	return list_of(s);
}

static struct jdoc *value_schema(const struct key_row *k)
{
	const char *pattern = k->shape ? k->shape->pattern : NULL;

	switch (k->kind) {
	case KEY_KIND_SECTION:
		return of_type("object");
	case KEY_KIND_BOOL:
		return of_type("boolean");
	case KEY_KIND_WORD:
		return vocabulary(k);
	case KEY_KIND_TEXT:
		return matching(pattern);
	case KEY_KIND_PATH:
		return matching(PATH_PATTERN);
	case KEY_KIND_COUNT:
		return k->none ? one_of(integer(k), none(k), NULL) : integer(k);
	case KEY_KIND_SIZE:
		return with_unit(k, SIZE_PATTERN);
	case KEY_KIND_SECONDS:
		return with_unit(k, "^[0-9]+[smhd]?$");
	case KEY_KIND_PERCENT:
		return with_unit(k, "^[0-9]+%$");
	case KEY_KIND_WORDS:
	case KEY_KIND_LAYERS:
	case KEY_KIND_DANGERS:
		return list_of(vocabulary(k));
	case KEY_KIND_TEXTS:
		return list_of(matching(pattern));
	case KEY_KIND_COUNTS:
		return list_of(integer(k));
	case KEY_KIND_PATHS:
	case KEY_KIND_BINDS:
		return list_of(matching(PATH_PATTERN));
	case KEY_KIND_EXTENDS:
		return one_of(matching(pattern), list_of(matching(pattern)), NULL);
	case KEY_KIND_TMPFS:
		return tmpfs(k);
	case KEY_KIND_ENV:
		return variables(k);
	case KEY_KIND_ARGV:
		return list_of(matching(NULL));
	case KEY_KIND_OBJECTS:
		return objects(k);
	}
	return NULL;
}

/* Members of one object: known keys, and keys beginning with "x-". */
void key_table_schema(struct jdoc *object, const struct key_row *table, const char *section)
{
	struct jdoc *properties = jdoc_set_object(object, "properties"), *free_keys;

	jdoc_set_bool(object, "additionalProperties", false);
	free_keys = jdoc_set_object(object, "patternProperties");
	jdoc_set(free_keys, "^x-", jdoc_new_bool(true));
	for (const struct key_row *k = table; k->path; k++) {
		struct jdoc *s, *fallback;

		if (!key_row_is_in(k, section))
			continue;
		s = value_schema(k);
		jdoc_set_string(s, "description", k->help);
		fallback = key_row_default(k);
		if (fallback)
			jdoc_set(s, "default", fallback);
		if (k->kind == KEY_KIND_SECTION)
			key_table_schema(s, table, k->path);
		jdoc_set(properties, key_row_name(k), s);
	}
	if (!section)
		jdoc_set(properties, "$schema", of_type("string"));
}
