/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-types.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/runtime/runtime-schema.h"
#include "oci/runtime/runtime-version.h"

/* clang-format off */
static const char *const names[] = {
	[SCHEMA_OBJECT]  = "an object",
	[SCHEMA_ARRAY]   = "an array",
	[SCHEMA_MAP]     = "an object of strings",
	[SCHEMA_MAP_OF_OBJECTS] = "an object of objects",
	[SCHEMA_STRING]  = "a string",
	[SCHEMA_STRINGS] = "an array of strings",
	[SCHEMA_NUMBER]  = "an integer of at most 64 bits",
	[SCHEMA_BOOLEAN] = "true or false",
	[SCHEMA_ID]      = "an id from 0 to 4294967294",
	[SCHEMA_IDS]     = "an array of ids from 0 to 4294967294",
	[SCHEMA_CGROUP]  = "a path without '..'",
	[SCHEMA_NAME]    = "the name of a directory",
	[SCHEMA_ABSOLUTE] = "a path that begins with '/' and has no '..'",
	[SCHEMA_KIND]    = "one of c, b, u, p",
	[SCHEMA_PROPAGATION] = "one of private, shared, slave, unbindable, also with an r before it",
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

/*
 * json-c, which libcrun 1.28 uses, takes the nearest integer for a number that is none: a limit of 0.5 would be 0, which is no limit, and
 * -Infinity is a number to it.
 */
static bool is_integer(struct jspan v)
{
	_cleanup_free_ char *text = strndup(v.at, v.len);
	uint64_t n;
	int64_t negative;

	return text && (str_to_u64(text, &n) == 0 || str_to_i64(text, &negative) == 0);
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

/* libcrun takes every other word for rprivate. */
static bool is_propagation(struct jspan v)
{
	static const char *const words[] = { "private", "shared", "slave", "unbindable" };
	_cleanup_free_ char *text = jspan_string(v);
	const char *word = text && *text == 'r' ? text + 1 : text;
	bool found = text && !*text;

	for (size_t i = 0; word && i < ARRAY_SIZE(words) && !found; i++)
		found = str_eq(word, words[i]);
	return found;
}

static bool is_map_of(struct jspan map, char first)
{
	struct jspan key, v;
	const char *at = NULL;
	int r;

	while ((r = jspan_next_member(map, &at, &key, &v)) > 0)
		if (!jspan_is(v, first))
			return false;
	return r == 0 && jspan_is(map, '{');
}

static bool has_type(struct jspan v, enum schema_type type)
{
	switch (type) {
	case SCHEMA_OBJECT:
		return jspan_is(v, '{');
	case SCHEMA_ARRAY:
		return jspan_is(v, '[');
	case SCHEMA_MAP:
		return is_map_of(v, '"');
	case SCHEMA_MAP_OF_OBJECTS:
		return is_map_of(v, '{');
	case SCHEMA_STRING:
		return is_string(v);
	case SCHEMA_STRINGS:
		return is_array_of(v, is_string);
	case SCHEMA_NUMBER:
		return is_integer(v);
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
	case SCHEMA_PROPAGATION:
		return is_propagation(v);
	}
	return false;
}

/* Where an object is: the members from the root to it. */
struct place {
	const struct place *up;
	struct jspan key;
	size_t index; /* from 1, of an element of an array */
};

static void name_place(const struct place *p, struct strbuf *out)
{
	if (!p)
		return;
	name_place(p->up, out);
	strbuf_puts(out, out->len > 0 ? "." : "");
	strbuf_add(out, p->key.at + 1, p->key.len - 2);
	if (p->index > 0)
		strbuf_printf(out, "[%zu]", p->index - 1);
}

static int refuse(const struct schema_use *use, const struct place *p, int code, const char *why,
		  struct fault *f)
{
	_cleanup_strbuf_ struct strbuf name = { 0 };

	name_place(p, &name);
	return fault_set(f, code, "%s: '%s' %s", use->label, name.text && !name.broken ? name.text : "member",
			 why);
}

/*
 * The value that a member has when it is not set: a refusal would be about nothing.  A name in a map is something, whatever is
 * behind it.
 */
static bool asks_nothing(struct jspan v, enum schema_type type)
{
	struct jspan key, item;
	const char *at = NULL;
	int r;

	if (is_word(v, "null") || is_word(v, "false") || is_word(v, "0") || is_word(v, "\"\""))
		return true;
	if (jspan_is(v, '['))
		return jspan_next_item(v, &at, &item) == 0;
	if (!jspan_is(v, '{'))
		return false;
	while ((r = jspan_next_member(v, &at, &key, &item)) > 0)
		if (type != SCHEMA_OBJECT || !asks_nothing(item, SCHEMA_OBJECT))
			return false;
	return r == 0;
}

static int require_members(struct jspan object, const struct schema_member *list,
			   const struct schema_use *use, const struct place *at, struct fault *f);

static int require_list(struct jspan array, const struct schema_member *list, const struct schema_use *use,
			const struct place *at, struct fault *f)
{
	struct place item_at = *at;
	struct jspan item;
	const char *pos = NULL;
	int r;

	while ((r = jspan_next_item(array, &pos, &item)) > 0) {
		item_at.index++;
		if (!jspan_is(item, '{'))
			return refuse(use, at, EINVAL, "must be an array of objects", f);
		r = require_members(item, list, use, &item_at, f);
		if (r < 0)
			return r;
	}
	return r < 0 ? refuse(use, at, EINVAL, "cannot be read", f) : 0;
}

static int require_map(struct jspan map, const struct schema_member *list, const struct schema_use *use,
		       const struct place *at, struct fault *f)
{
	struct place item_at = { .up = at };
	struct jspan item;
	const char *pos = NULL;
	int r = 0;

	while (r == 0 && jspan_next_member(map, &pos, &item_at.key, &item) > 0)
		r = require_members(item, list, use, &item_at, f);
	return r;
}

static int require_member(const struct schema_member *m, struct jspan v, const struct schema_use *use,
			  const struct place *at, struct fault *f)
{
	char why[160];

	if (is_word(v, "null"))
		return 0;
	if (m->since > use->libcrun) {
		if (asks_nothing(v, m->type))
			return 0;
		return refuse(use, at, ENOTSUP,
			      "is not supported: libcrun " LIBCRUN_VERSION " would ignore it; remove it", f);
	}
	if (!has_type(v, m->type)) {
		(void)snprintf(why, sizeof(why), "must be %s", names[m->type]);
		return refuse(use, at, EINVAL, why, f);
	}
	if (!m->in)
		return 0;
	if (m->type == SCHEMA_ARRAY)
		return require_list(v, m->in, use, at, f);
	if (m->type == SCHEMA_MAP_OF_OBJECTS)
		return require_map(v, m->in, use, at, f);
	return require_members(v, m->in, use, at, f);
}

/*
 * The specification lets a runtime ignore a member that is in no specification.  In the root object that is done, and reported;
 * inside of an object that protects the host a mistyped or newer member would be a protection that is missing.
 */
static int ignore_or_refuse(const struct schema_member *list, const struct schema_use *use,
			    const struct place *at, struct fault *f)
{
	const struct jspan key = at->key;

	for (const struct schema_member *m = list; m->key; m++)
		if (strlen(m->key) == key.len - 2 && !strncasecmp(m->key, key.at + 1, key.len - 2))
			return refuse(use, at, EINVAL, "is not how the specification writes this member", f);
	if (list != schema_config || use->later || !use->ignored)
		return refuse(use, at, ENOTSUP,
			      "is in no OCI runtime specification up to " RUNTIME_SPEC_MAX
			      "; remove it, or make it an annotation",
			      f);
	strbuf_printf(use->ignored, "%s'%.*s'", use->ignored->len > 0 ? ", " : "", (int)(key.len - 2),
		      key.at + 1);
	return 0;
}

static int require_members(struct jspan object, const struct schema_member *list,
			   const struct schema_use *use, const struct place *up, struct fault *f)
{
	bool seen[SCHEMA_MAX] = { false };
	struct place at = { .up = up };
	const char *pos = NULL;
	struct jspan v;
	size_t i;
	int r;

	while ((r = jspan_next_member(object, &pos, &at.key, &v)) > 0) {
		for (i = 0; list[i].key && !jspan_key_is(at.key, list[i].key);)
			i++;
		if (!list[i].key)
			r = ignore_or_refuse(list, use, &at, f);
		else if (seen[i])
			r = refuse(use, &at, EINVAL, "is repeated", f);
		else
			r = require_member(&list[i], v, use, &at, f);
		if (r < 0)
			return r;
		seen[i] = true;
	}
	return r < 0 ? fault_set(f, EINVAL, "%s: a member is written with escapes or cannot be read",
				 use->label)
		     : 0;
}

int runtime_types_check(struct jspan object, const struct schema_member *list, const struct schema_use *use,
			struct fault *f)
{
	return require_members(object, list, use, NULL, f);
}

int runtime_types_require(struct jspan config, bool later, struct strbuf *ignored, struct fault *f)
{
	const struct schema_use use = {
		.label = "config.json", .libcrun = runtime_libcrun(), .later = later, .ignored = ignored
	};

	return runtime_types_check(config, schema_config, &use, f);
}

int runtime_types_require_process(struct jspan object, struct fault *f)
{
	const struct schema_use use = { .label = "process", .libcrun = runtime_libcrun() };

	return runtime_types_check(object, schema_process, &use, f);
}

int runtime_types_require_resources(struct jspan object, struct fault *f)
{
	const struct schema_use use = { .label = "resources", .libcrun = runtime_libcrun() };

	return runtime_types_check(object, schema_resources, &use, f);
}
