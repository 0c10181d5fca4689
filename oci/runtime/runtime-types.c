/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-types.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/runtime/runtime-namespace.h"
#include "oci/runtime/runtime-schema.h"

/* clang-format off */
static const char *const names[] = {
	[SCHEMA_OBJECT]  = "an object",
	[SCHEMA_ARRAY]   = "an array",
	[SCHEMA_STRING]  = "a string",
	[SCHEMA_STRINGS] = "an array of strings",
	[SCHEMA_NUMBER]  = "a number",
	[SCHEMA_BOOLEAN] = "true or false",
	[SCHEMA_ID]      = "an id from 0 to 4294967294",
	[SCHEMA_IDS]     = "an array of ids from 0 to 4294967294",
	[SCHEMA_CGROUP]  = "a path without '..'",
	[SCHEMA_NAME]    = "the name of a directory",
	[SCHEMA_ABSOLUTE] = "a path that begins with '/' and has no '..'",
	[SCHEMA_KIND]    = "one of c, b, u, p",
};
/* clang-format on */

static bool is_word(struct jspan v, const char *word)
{
	return v.len == strlen(word) && !memcmp(v.at, word, v.len);
}

static bool is_string(struct jspan v)
{
	return jspan_is(v, '"');
}

/* -1 as an id means "do not change it" to the kernel: the process would stay root. */
static bool is_id(struct jspan v)
{
	_cleanup_free_ char *text = strndup(v.at, v.len);
	uint64_t n;

	return text && str_to_u64(text, &n) == 0 && n < UINT32_MAX;
}

static bool is_array_of(struct jspan array, bool (*is_item)(struct jspan v))
{
	struct jspan item;
	const char *at = NULL;
	int r;

	while ((r = jspan_next_item(array, &at, &item)) > 0)
		if (!is_item(item))
			return false;
	return r == 0 && jspan_is(array, '[');
}

/* libcrun appends a cgroupsPath to the mount point of each controller and creates it. */
static bool has_no_dots(struct jspan v)
{
	_cleanup_free_ char *path = jspan_string(v);

	for (const char *at = path; at && *at; at += strspn(at, "/")) {
		size_t len = strcspn(at, "/");

		if (len == 2 && !memcmp(at, "..", 2))
			return false;
		at += len;
	}
	return path;
}

/* libcrun appends it to the path of resctrl and creates it. */
static bool is_name(struct jspan v)
{
	_cleanup_free_ char *name = jspan_string(v);

	return name && !strchr(name, '/') && !str_eq(name, ".") && !str_eq(name, "..");
}

/* libcrun takes a relative path of a device from /dev, also out of the root; a relative hook is searched in $PATH. */
static bool is_absolute(struct jspan v)
{
	_cleanup_free_ char *path = jspan_string(v);

	return path && *path == '/' && has_no_dots(v);
}

/* libcrun creates a character device for every other letter. */
static bool is_kind(struct jspan v)
{
	_cleanup_free_ char *kind = jspan_string(v);

	return kind && strlen(kind) == 1 && strchr("cbup", *kind);
}

static bool has_type(struct jspan v, enum schema_type type)
{
	switch (type) {
	case SCHEMA_OBJECT:
		return jspan_is(v, '{');
	case SCHEMA_ARRAY:
		return jspan_is(v, '[');
	case SCHEMA_STRING:
		return is_string(v);
	case SCHEMA_STRINGS:
		return is_array_of(v, is_string);
	case SCHEMA_NUMBER:
		return v.len > 0 && strchr("-0123456789", *v.at);
	case SCHEMA_BOOLEAN:
		return is_word(v, "true") || is_word(v, "false");
	case SCHEMA_ID:
		return is_id(v);
	case SCHEMA_IDS:
		return is_array_of(v, is_id);
	case SCHEMA_CGROUP:
		return has_no_dots(v);
	case SCHEMA_NAME:
		return is_name(v);
	case SCHEMA_ABSOLUTE:
		return is_absolute(v);
	case SCHEMA_KIND:
		return is_kind(v);
	}
	return false;
}

static int require(struct jspan object, const struct schema *m, const char *name, struct fault *f);

static int require_each(struct jspan array, const struct schema *m, const char *key, const char *name,
			struct fault *f)
{
	struct jspan item;
	const char *at = NULL;
	int r;

	while ((r = jspan_next_item(array, &at, &item)) > 0) {
		if (!jspan_is(item, '{'))
			return fault_set(f, EINVAL, "%s: '%s' must be an array of objects", name, key);
		r = require(item, m, name, f);
		if (r < 0)
			return r;
	}
	return r < 0 ? fault_set(f, EINVAL, "%s: '%s' cannot be read", name, key) : 0;
}

static int require(struct jspan object, const struct schema *m, const char *name, struct fault *f)
{
	const char *keys[SCHEMA_MAX];
	struct jspan v[SCHEMA_MAX];
	int r = 0;

	for (size_t i = 0; i < m->n; i++)
		keys[i] = m->list[i].key;
	if (jspan_get_each(object, keys, m->n, v) < 0)
		return fault_set(f, EINVAL, "%s: a member is repeated or written with escapes", name);
	for (size_t i = 0; i < m->n && r == 0; i++) {
		if (!v[i].at || is_word(v[i], "null"))
			continue;
		if (!has_type(v[i], m->list[i].type))
			return fault_set(f, EINVAL, "%s: '%s' must be %s", name, keys[i],
					 names[m->list[i].type]);
		if (m->list[i].in && m->list[i].type == SCHEMA_ARRAY)
			r = require_each(v[i], m->list[i].in, keys[i], name, f);
		else if (m->list[i].in)
			r = require(v[i], m->list[i].in, name, f);
	}
	return r;
}

int runtime_types_require(struct jspan object, struct fault *f)
{
	int r = require(object, &schema_config, "config.json", f);

	return r < 0 ? r : runtime_namespace_require(object, f);
}

int runtime_types_require_process(struct jspan object, struct fault *f)
{
	return require(object, &schema_process, "process", f);
}

int runtime_types_require_resources(struct jspan object, struct fault *f)
{
	return require(object, &schema_resources, "resources", f);
}
