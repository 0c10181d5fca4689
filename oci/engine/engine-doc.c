/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "layer/layer.h"
#include "oci/engine/engine-impl.h"

bool engine_is(const struct jdoc *d, enum jdoc_type type)
{
	return d && d->type == type;
}

struct jdoc *engine_at(const struct jdoc *d, const char *path)
{
	char key[64];
	struct jdoc *at = NULL;

	while (*path) {
		size_t len = strcspn(path, ".");

		if (len >= sizeof(key))
			return NULL;
		memcpy(key, path, len);
		key[len] = '\0';
		at = jdoc_get(at ? at : d, key);
		if (!at)
			return NULL;
		path += len + (path[len] == '.');
	}
	return at;
}

const char *engine_text(const struct jdoc *d, const char *path)
{
	const struct jdoc *v = engine_at(d, path);

	return engine_is(v, JDOC_STRING) ? v->string : NULL;
}

size_t engine_count(const struct jdoc *d, const char *path)
{
	const struct jdoc *v = engine_at(d, path);

	return engine_is(v, JDOC_ARRAY) ? v->n_items : 0;
}

struct jdoc *engine_item(const struct jdoc *d, const char *path, size_t i)
{
	return engine_at(d, path)->items[i];
}

struct jdoc *engine_make(struct jdoc *object, const char *key, enum jdoc_type type)
{
	struct jdoc *v = jdoc_get(object, key);

	if (engine_is(v, type))
		return v;
	return type == JDOC_ARRAY ? jdoc_set_array(object, key) : jdoc_set_object(object, key);
}

bool engine_list_has(const struct jdoc *array, const char *text)
{
	for (size_t i = 0; engine_is(array, JDOC_ARRAY) && i < array->n_items; i++)
		if (engine_is(array->items[i], JDOC_STRING) && strcmp(array->items[i]->string, text) == 0)
			return true;
	return false;
}

static int compare(const void *a, const void *b)
{
	const struct jdoc *x = *(struct jdoc *const *)a, *y = *(struct jdoc *const *)b;

	if (x->type != JDOC_STRING || y->type != JDOC_STRING)
		return (x->type == JDOC_STRING) - (y->type == JDOC_STRING);
	return strcmp(x->string, y->string);
}

void engine_list_sort(struct jdoc *array)
{
	if (engine_is(array, JDOC_ARRAY) && array->n_items > 1)
		qsort(array->items, array->n_items, sizeof(*array->items), compare);
}

/* What the word allows, or the layer that "no-pid-namespace" switches off. */
static char *explain(const char *word)
{
	const char *name = str_starts(word, "no-") ? word + strlen("no-") : "";
	int layer = layer_from_name(name);
	char *text = NULL;

	for (size_t i = 0; profile_danger_at(i); i++)
		if (str_eq(profile_danger_at(i)->word, word))
			return strdup(profile_danger_at(i)->what);
	if (layer >= 0 && asprintf(&text, "the profile requires the layer %s (%s)", name,
				   layer_info((enum layer)layer)->what) < 0)
		return NULL;
	return text;
}

int engine_require_danger(const struct engine_work *w, const char *word, const char *what, ...)
{
	_cleanup_free_ char *text = NULL, *why = explain(word);
	va_list ap;
	int r;

	if (strv_has(w->in->profile->dangerous, word))
		return 0;
	va_start(ap, what);
	r = vasprintf(&text, what, ap);
	va_end(ap);
	if (r < 0)
		text = NULL;
	if (!text || !why)
		return fault_errno(w->f, ENOMEM, "config.json");
	return fault_set(
		w->f, EPERM,
		"config.json: %s: refused, %s; to allow it, add \"%s\" to 'dangerous' of profile '%s'", text,
		why, word, w->in->profile->name);
}

bool engine_asks(const struct engine_work *w, enum layer l)
{
	return w->in->profile->layers & LAYER_BIT(l);
}
