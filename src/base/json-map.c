/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json-map.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static void init(struct jmap *m, struct jdoc *d, bool reading, const char *label, struct fault *f)
{
	*m = (struct jmap){ .d = d, .reading = reading, .f = f };
	(void)snprintf(m->path, sizeof(m->path), "%s", label);
	if (reading && (!d || d->type != JDOC_OBJECT))
		(void)jmap_fail(m, EINVAL, "is not an object");
}

void jmap_init_write(struct jmap *m, struct jdoc *d, const char *label, struct fault *f)
{
	init(m, d, false, label, f);
}

void jmap_init_read(struct jmap *m, const struct jdoc *d, const char *label, struct fault *f)
{
	init(m, (struct jdoc *)d, true, label, f);
}

int jmap_fail(struct jmap *m, int code, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (m->r < 0)
		return m->r;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	m->r = fault_set(m->f, code, "%s: %s", m->path, text);
	return m->r;
}

static bool is_asked(const struct jmap *m, const char *key)
{
	for (size_t i = 0; i < m->n_keys; i++)
		if (strcmp(m->keys[i], key) == 0)
			return true;
	return false;
}

int jmap_end(struct jmap *m)
{
	if (m->r == 0 && !m->reading && (!m->d || m->d->broken))
		return jmap_fail(m, ENOMEM, "no memory");
	for (size_t i = 0; m->r == 0 && m->reading && i < m->d->n_members; i++)
		if (!is_asked(m, m->d->members[i].key))
			return jmap_fail(m, EINVAL, "unknown key '%s'", m->d->members[i].key);
	return m->r;
}

/* The value of KEY if reading; NULL after a failure. */
static struct jdoc *find(struct jmap *m, const char *key)
{
	struct jdoc *v;

	if (m->r < 0)
		return NULL;
	if (m->n_keys == JMAP_KEYS_MAX || is_asked(m, key)) {
		(void)jmap_fail(m, EINVAL, "'%s' is read twice, or too many keys are read", key);
		return NULL;
	}
	m->keys[m->n_keys++] = key;
	v = jdoc_get(m->d, key);
	if (!v)
		(void)jmap_fail(m, EINVAL, "no '%s'", key);
	return v;
}

static struct jdoc *find_typed(struct jmap *m, const char *key, enum jdoc_type type)
{
	struct jdoc *v = find(m, key);

	if (v && v->type != type) {
		(void)jmap_fail(m, EINVAL, "'%s' is %s, not %s", key, jdoc_type_name(v->type),
				jdoc_type_name(type));
		return NULL;
	}
	return v;
}

static void set(struct jmap *m, const char *key, struct jdoc *v)
{
	if (m->r < 0)
		jdoc_free(v);
	else
		jdoc_set(m->d, key, v);
}

static void take(struct jmap *m, const struct jdoc *v, char **field)
{
	if (!v)
		return;
	*field = strdup(v->string);
	if (!*field)
		(void)jmap_fail(m, ENOMEM, "no memory");
}

static void write_string(struct jmap *m, const char *key, const char *text)
{
	if (!text)
		(void)jmap_fail(m, EINVAL, "no '%s'", key);
	else if (!str_is_utf8(text, strlen(text)))
		(void)jmap_fail(m, EILSEQ, "'%s' is not UTF-8", key);
	else
		set(m, key, jdoc_new_string(text));
}

void jmap_string(struct jmap *m, const char *key, char **field)
{
	if (m->reading)
		take(m, find_typed(m, key, JDOC_STRING), field);
	else
		write_string(m, key, *field);
}

void jmap_string_or_null(struct jmap *m, const char *key, char **field)
{
	struct jdoc *v;

	if (!m->reading) {
		if (*field)
			write_string(m, key, *field);
		else
			set(m, key, jdoc_new_null());
		return;
	}
	v = find(m, key);
	if (v && v->type == JDOC_STRING)
		take(m, v, field);
	else if (v && v->type != JDOC_NULL)
		(void)jmap_fail(m, EINVAL, "'%s' is %s, not string or null", key, jdoc_type_name(v->type));
}

void jmap_path(struct jmap *m, const char *key, char **field)
{
	jmap_string(m, key, field);
	if (m->r == 0 && (*field)[0] != '/')
		(void)jmap_fail(m, EINVAL, "'%s' is not an absolute path", key);
}

void jmap_constant(struct jmap *m, const char *key, const char *text)
{
	struct jdoc *v;

	if (!m->reading) {
		write_string(m, key, text);
		return;
	}
	v = find_typed(m, key, JDOC_STRING);
	if (v && strcmp(v->string, text) != 0)
		(void)jmap_fail(m, EINVAL, "'%s' is '%.64s', not '%s'", key, v->string, text);
}

void jmap_bool(struct jmap *m, const char *key, bool *field)
{
	struct jdoc *v;

	if (!m->reading) {
		set(m, key, jdoc_new_bool(*field));
		return;
	}
	v = find_typed(m, key, JDOC_BOOL);
	if (v)
		*field = v->boolean;
}

void jmap_u64(struct jmap *m, const char *key, uint64_t *field)
{
	struct jdoc *v;

	if (!m->reading) {
		if (*field > INT64_MAX)
			(void)jmap_fail(m, ERANGE, "'%s' is too large", key);
		else
			set(m, key, jdoc_new_int((int64_t)*field));
		return;
	}
	v = find_typed(m, key, JDOC_INT);
	if (v && v->integer < 0)
		(void)jmap_fail(m, ERANGE, "'%s' is negative", key);
	else if (v)
		*field = (uint64_t)v->integer;
}

void jmap_uint(struct jmap *m, const char *key, unsigned int *field, unsigned int max)
{
	uint64_t value = *field;

	jmap_u64(m, key, &value);
	if (m->r == 0 && value > max)
		(void)jmap_fail(m, ERANGE, "'%s' is more than %u", key, max);
	if (m->r == 0 && m->reading)
		*field = (unsigned int)value;
}

static void write_strv(struct jmap *m, const char *key, char *const *v)
{
	struct jdoc *a = jdoc_new_array();

	for (size_t i = 0; a && v && v[i]; i++) {
		if (!str_is_utf8(v[i], strlen(v[i])))
			(void)jmap_fail(m, EILSEQ, "'%s' holds a text that is not UTF-8", key);
		else
			jdoc_append_string(a, v[i]);
	}
	set(m, key, a);
}

static void read_strv(struct jmap *m, const struct jdoc *a, const char *key, char ***field)
{
	char **v = calloc(a->n_items + 1, sizeof(*v));

	if (!v) {
		(void)jmap_fail(m, ENOMEM, "no memory");
		return;
	}
	*field = v;
	for (size_t i = 0; m->r == 0 && i < a->n_items; i++) {
		if (a->items[i]->type != JDOC_STRING)
			(void)jmap_fail(m, EINVAL, "'%s' holds %s, not string", key,
					jdoc_type_name(a->items[i]->type));
		else
			take(m, a->items[i], &v[i]);
	}
}

void jmap_strv(struct jmap *m, const char *key, char ***field)
{
	const struct jdoc *a;

	if (!m->reading) {
		write_strv(m, key, *field);
		return;
	}
	a = find_typed(m, key, JDOC_ARRAY);
	if (a)
		read_strv(m, a, key, field);
}

void jmap_word(struct jmap *m, const char *key, const char *const *names, unsigned int *field)
{
	struct jdoc *v;

	for (unsigned int i = 0; !m->reading && i <= *field; i++)
		if (!names[i]) {
			(void)jmap_fail(m, EINVAL, "'%s' has an unknown value", key);
			return;
		}
	if (!m->reading) {
		write_string(m, key, names[*field]);
		return;
	}
	v = find_typed(m, key, JDOC_STRING);
	for (unsigned int i = 0; v && names[i]; i++)
		if (strcmp(names[i], v->string) == 0) {
			*field = i;
			return;
		}
	if (v)
		(void)jmap_fail(m, EINVAL, "'%s' is '%.64s', which is unknown", key, v->string);
}

struct jdoc *jmap_value(struct jmap *m, const char *key, enum jdoc_type type)
{
	if (m->reading)
		return find_typed(m, key, type);
	if (m->r < 0)
		return NULL;
	set(m, key, type == JDOC_ARRAY ? jdoc_new_array() : jdoc_new_object());
	return jdoc_get(m->d, key);
}

bool jmap_is_null(const struct jmap *m, const char *key)
{
	const struct jdoc *v = m->reading && m->r == 0 ? jdoc_get(m->d, key) : NULL;

	return v && v->type == JDOC_NULL;
}

/* Rarely printed, and built without printf: it runs for each object of each document. */
static void add_path(struct jmap *m, const char *text)
{
	size_t at = strlen(m->path), n = strnlen(text, sizeof(m->path) - 1 - at);

	memcpy(m->path + at, text, n);
	m->path[at + n] = '\0';
}

static void add_index(struct jmap *m, size_t i)
{
	char text[sizeof("[18446744073709551615]")], *at = text + sizeof(text);

	*--at = '\0';
	*--at = ']';
	do
		*--at = (char)('0' + i % 10);
	while (i /= 10);
	*--at = '[';
	add_path(m, at);
}

static void enter(struct jmap *m, const char *key, struct jdoc *d, struct jmap *child)
{
	*child = (struct jmap){ .d = d, .reading = m->reading, .f = m->f, .r = m->r };
	add_path(child, m->path);
	add_path(child, ".");
	add_path(child, key);
}

static void look(const struct jmap *m, struct jmap *child)
{
	const struct jdoc *d = child->d;

	if (m->r < 0)
		return;
	if (!d)
		(void)jmap_fail(child, ENOMEM, "no memory");
	else if (d->type != JDOC_OBJECT)
		(void)jmap_fail(child, EINVAL, "is %s, not object", jdoc_type_name(d->type));
}

void jmap_enter(struct jmap *m, const char *key, struct jmap *child)
{
	enter(m, key, jmap_value(m, key, JDOC_OBJECT), child);
	look(m, child);
}

void jmap_enter_item(struct jmap *m, const char *key, struct jdoc *array, size_t i, struct jmap *child)
{
	enter(m, key, m->r < 0 ? NULL : m->reading ? array->items[i] : jdoc_append_object(array), child);
	add_index(child, i);
	look(m, child);
}

void jmap_leave(struct jmap *m, struct jmap *child)
{
	int r = jmap_end(child);

	if (m->r == 0)
		m->r = r;
}
