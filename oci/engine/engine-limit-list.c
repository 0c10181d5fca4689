/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/engine/engine-impl.h"
#include "oci/engine/engine-limit-impl.h"

/* Members that are lists: of devices, page sizes, interfaces; and files of cgroup v2. */

/* --- keys ------------------------------------------------------------------------------------------------------- */

#define MAJOR_MAX 4095
#define MINOR_MAX 1048575
#define MINOR_BITS 20

/* As the kernel reads what libcrun writes: both as 32 bits, then one number.  A missing one is 0 for libcrun. */
static uint32_t device_of(const struct jdoc *item)
{
	const struct jdoc *major = jdoc_get(item, "major"), *minor = jdoc_get(item, "minor");
	const uint32_t high = engine_is(major, JDOC_INT) ? (uint32_t)major->integer : 0,
		       low = engine_is(minor, JDOC_INT) ? (uint32_t)minor->integer : 0;

	return high << MINOR_BITS | low;
}

static bool is_of_device(const struct engine_limit *row)
{
	return strcmp(row->keys[0], "major") == 0;
}

static bool same_keys(const struct engine_limit *row, const struct jdoc *a, const struct jdoc *b)
{
	const struct jdoc *x = jdoc_get(a, row->keys[0]), *y = jdoc_get(b, row->keys[0]);

	if (is_of_device(row))
		return device_of(a) == device_of(b);
	return x && y && jdoc_equal(x, y);
}

static bool is_number(const struct jdoc *item, const char *key, int64_t max)
{
	const struct jdoc *v = jdoc_get(item, key);

	return engine_is(v, JDOC_INT) && !v->wide && v->integer >= 0 && v->integer <= max;
}

/* "2MB": libcrun makes the name of a file of it. */
static bool is_page_size(const char *text)
{
	const size_t digits = text ? strspn(text, "0123456789") : 0;

	return digits > 0 && digits < 8 && *text != '0' && strchr("KMG", text[digits]) && text[digits] &&
	       str_eq(text + digits + 1, "B");
}

/* libcrun writes it before a blank and the priority. */
static bool is_interface(const char *text)
{
	return text && *text && strlen(text) < 16 && !strpbrk(text, " \t\n\v\f\r/");
}

/* Another spelling of a key would be another limit here, and the same one for the kernel. */
static bool has_plain_keys(const struct engine_limit *row, const struct jdoc *item)
{
	if (!engine_is(item, JDOC_OBJECT))
		return false;
	if (is_of_device(row))
		return is_number(item, "major", MAJOR_MAX) && is_number(item, "minor", MINOR_MAX);
	return strcmp(row->keys[0], "pageSize") == 0 ? is_page_size(engine_text(item, "pageSize"))
						     : is_interface(engine_text(item, row->keys[0]));
}

static int require_keys(const struct limit_walk *w, const char *path, const struct engine_limit *row,
			const struct jdoc *list)
{
	for (size_t i = 0; i < list->n_items; i++)
		if (!has_plain_keys(row, list->items[i]))
			return fault_set(
				w->f, EINVAL,
				"not updated: 'resources.%.100s[%zu]' does not say which %s it is for; "
				"nothing was changed; give '%s'%s",
				path, i, is_of_device(row) ? "device" : row->keys[0], row->keys[0],
				is_of_device(row) ? " (0 to 4095) and 'minor' (0 to 1048575)"
				: strcmp(row->keys[0], "pageSize") == 0 ? " as \"2MB\""
									: " of an interface");
	return 0;
}

/* --- items ------------------------------------------------------------------------------------------------------ */

/* The last one: libcrun writes them in their order. */
static const struct jdoc *find_item(const struct engine_limit *row, const struct jdoc *list,
				    const struct jdoc *item)
{
	for (size_t i = engine_is(list, JDOC_ARRAY) ? list->n_items : 0; i > 0; i--)
		if (same_keys(row, list->items[i - 1], item))
			return list->items[i - 1];
	return NULL;
}

/* "blockIO.throttleReadBpsDevice[8:0].rate" */
static char *name_item(const char *path, const struct engine_limit *row, const struct jdoc *item,
		       const char *member)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	strbuf_printf(&t, "%s[", path);
	for (const char *const *key = row->keys; *key; key++) {
		const struct jdoc *v = jdoc_get(item, *key);

		strbuf_puts(&t, key == row->keys ? "" : ":");
		if (engine_is(v, JDOC_STRING))
			strbuf_puts(&t, v->string);
		else if (v)
			(void)!jdoc_write(v, JDOC_CANONICAL, &t, NULL);
	}
	strbuf_printf(&t, "].%s", member);
	return strbuf_take(&t);
}

/* A device without a weight has that of the container. */
static struct engine_limit row_of(const struct limit_walk *w, const struct engine_limit *row,
				  const struct engine_limit *in)
{
	struct engine_limit r = *in;
	const struct engine_limit general = { .zero = ENGINE_ZERO_UNSET, .missing = { 100, 19 } };
	uint64_t n;

	if (str_eq(row->name, "weightDevice") &&
	    engine_limit_number(engine_at(w->l->approved, "blockIO.weight"), &general, w->l->v2, &n))
		r.missing[0] = r.missing[1] = n;
	return r;
}

/* 1: looser, and reported. */
static int judge_item(struct limit_walk *w, const char *path, const struct engine_limit *row,
		      const struct jdoc *item, const struct jdoc *was)
{
	for (const struct engine_limit *in = row->in; in->name; in++) {
		const struct engine_limit r = row_of(w, row, in);
		const struct jdoc *asked = jdoc_get(item, in->name);
		_cleanup_free_ char *name = name_item(path, row, item, in->name);
		char approved_text[32] = "no limit", asked_text[32] = "no limit";
		uint64_t most = 0, n = 0;

		if (!asked)
			continue;
		if (!name)
			return fault_errno(w->f, ENOMEM, "limits");
		if (engine_limit_number(jdoc_get(was, in->name), &r, w->l->v2, &most) &&
		    engine_limit_number(asked, &r, w->l->v2, &n) && n <= most &&
		    (in->kind != ENGINE_LIMIT_SAME || n == most))
			continue;
		if (most != ENGINE_LIMIT_NONE)
			(void)snprintf(approved_text, sizeof(approved_text), "%" PRIu64, most);
		if (n != ENGINE_LIMIT_NONE)
			(void)snprintf(asked_text, sizeof(asked_text), "%" PRIu64, n);
		if (!engine_limit_is_repeated(find_item(row, engine_at(w->l->engine, path), item), item))
			engine_limit_put_looser(w, name, in, approved_text, asked_text);
		return 1;
	}
	return 0;
}

int engine_limit_clamp_list(struct limit_walk *w, const char *path, const struct engine_limit *row,
			    struct jdoc *list, const struct jdoc *approved)
{
	const bool replaced = engine_limit_is_file(w, path);

	if (!engine_is(list, JDOC_ARRAY))
		return fault_set(w->f, EINVAL, "not updated: 'resources.%.100s' is not an array", path);
	if (require_keys(w, path, row, list) < 0)
		return -EINVAL;
	for (size_t i = 0; i < list->n_items;) {
		const struct jdoc *was = find_item(row, approved, list->items[i]);
		int r = judge_item(w, path, row, list->items[i], was);

		if (r < 0)
			return r;
		if (r == 0 && replaced)
			engine_limit_put_looser(w, path, row, "files of unified", "a member");
		i += r == 0 && !replaced;
		if (r > 0 || replaced)
			(void)jdoc_remove_item(list, i);
	}
	return 0;
}

/* --- files ---------------------------------------------------------------------------------------------------- */

static struct engine_limit file_row(const struct limit_walk *w, const char *file)
{
	struct engine_limit row = { .name = file, .kind = ENGINE_LIMIT_SAME };
	const struct jdoc *shares = engine_at(w->l->approved, "cpu.shares"),
			  *swap = engine_at(w->l->approved, "memory.swap");

	if (engine_limit_find(engine_limit_files, file))
		row = *engine_limit_find(engine_limit_files, file);
	/* libcrun has written these files for the members. */
	if (str_eq(file, "cpu.weight") && engine_is(shares, JDOC_INT) && shares->integer > 2)
		row.missing[1] = (uint64_t)(1 + (shares->integer - 2) * 9999 / 262142);
	else if (str_eq(file, "cpu.weight") && engine_is(shares, JDOC_INT) && shares->integer != 0)
		row.missing[1] = 1;
	if (str_eq(file, "memory.swap.max") && swap)
		row.kind = ENGINE_LIMIT_SAME;
	if (str_starts(file, "io.") && jdoc_get(w->l->approved, "blockIO"))
		row.kind = ENGINE_LIMIT_SAME;
	return row;
}

static bool read_file_number(const char *text, uint64_t missing, uint64_t *ret)
{
	*ret = text ? ENGINE_LIMIT_NONE : missing;
	return !text || str_eq(text, "max") || engine_unified_number(text, ret);
}

static bool file_is_looser(const struct limit_walk *w, const char *file, const char *was, const char *is)
{
	const struct engine_limit row = file_row(w, file);
	uint64_t most, n;

	if (!is || !w->l->v2 || row.kind == ENGINE_LIMIT_SAME)
		return !is || !str_eq(was, is);
	return !read_file_number(was, row.missing[1], &most) || !read_file_number(is, 0, &n) || n > most;
}

int engine_limit_clamp_files(struct limit_walk *w, const char *path, struct jdoc *files,
			     const struct jdoc *approved)
{
	if (!engine_is(files, JDOC_OBJECT))
		return fault_set(w->f, EINVAL, "not updated: 'resources.%.100s' is not an object", path);
	for (size_t i = 0; i < files->n_members;) {
		const char *file = files->members[i].key, *was = jdoc_get_string(approved, file),
			   *is = jdoc_get_string(files, file);
		_cleanup_free_ char *name = NULL, *key = NULL;

		if (!file_is_looser(w, file, was, is)) {
			i++;
			continue;
		}
		key = strdup(file);
		if (!key || asprintf(&name, "%s.%s", path, file) < 0)
			return fault_errno(w->f, ENOMEM, "limits");
		if (!engine_limit_is_repeated(jdoc_get(jdoc_get(w->l->engine, "unified"), file),
					      jdoc_get(files, file)))
			engine_limit_put_looser(w, name, NULL, was ? was : "nothing", is ? is : "no text");
		if (was)
			jdoc_set_string(files, key, was);
		else
			(void)jdoc_remove(files, key);
		i += was != NULL;
	}
	return 0;
}
