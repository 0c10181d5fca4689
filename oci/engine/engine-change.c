/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-change.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/seccomp/seccomp-filter.h"
#include "subject/subject-diff.h"

static const char *text_at(const struct jdoc *list, size_t i)
{
	return list->items[i]->type == JDOC_STRING ? list->items[i]->string : "";
}

/* Names that A has and B has not: "CAP_MKNOD CAP_NET_RAW".  Both are sorted. */
static void put_missing(struct strbuf *t, const struct jdoc *a, const struct jdoc *b)
{
	size_t k = 0;

	for (size_t i = 0; i < a->n_items; i++) {
		while (k < b->n_items && strcmp(text_at(b, k), text_at(a, i)) < 0)
			k++;
		if (k == b->n_items || strcmp(text_at(b, k), text_at(a, i)) != 0)
			strbuf_printf(t, " %s", text_at(a, i));
	}
}

/*
 * A list compared by index would show every later item as changed.  "14 names" becomes "12 names, without A B", or "11 names, and
 * A B".  Equal ones disappear.
 */
static void shorten_lists(struct jdoc *was, struct jdoc *is, const char *key)
{
	_cleanup_strbuf_ struct strbuf less = { 0 }, more = { 0 }, text = { 0 };
	struct jdoc *a = jdoc_get(was, key), *b = jdoc_get(is, key);
	char before[32];

	if (!engine_is(b, JDOC_ARRAY))
		return;
	if (!engine_is(a, JDOC_ARRAY))
		a = jdoc_set_array(was, key);
	if (!a)
		return;
	engine_list_sort(a);
	engine_list_sort(b);
	put_missing(&less, a, b);
	put_missing(&more, b, a);
	(void)snprintf(before, sizeof(before), "%zu names", a->n_items);
	strbuf_printf(&text, "%zu names", b->n_items);
	if (less.len > 0)
		strbuf_printf(&text, ", without%s", less.text);
	if (more.len > 0)
		strbuf_printf(&text, ", and%s", more.text);
	if (less.len == 0 && more.len == 0) {
		(void)jdoc_remove(was, key);
		(void)jdoc_remove(is, key);
		return;
	}
	jdoc_set_string(was, key, before);
	jdoc_set_string(is, key, text.broken || less.broken || more.broken ? NULL : text.text);
}

/* All calls of this machine that a filter allows, with arguments or without, as the list "seccomp". */
static void list_allowed(struct jdoc *part)
{
	const struct jdoc *seccomp = jdoc_get(part, "seccomp");
	const struct seccomp_choice native = { 0 };
	struct jdoc *list = jdoc_new_array();

	for (size_t i = 0; i < engine_count(seccomp, "syscalls"); i++) {
		const struct jdoc *rule = engine_item(seccomp, "syscalls", i),
				  *names = jdoc_get(rule, "names");

		if (!str_eq(engine_text(rule, "action"), "SCMP_ACT_ALLOW") || !engine_is(names, JDOC_ARRAY))
			continue;
		for (size_t k = 0; k < names->n_items; k++)
			if (engine_is(names->items[k], JDOC_STRING) &&
			    seccomp_choice_has_call(&native, names->items[k]->string))
				jdoc_append_string(list, names->items[k]->string);
	}
	jdoc_set(part, "seccomp", list);
}

static bool has_filter(const struct jdoc *config)
{
	return engine_count(config, "linux.seccomp.syscalls") > 0;
}

static void shorten_seccomp(struct jdoc *was, struct jdoc *is)
{
	struct jdoc *a = jdoc_get(was, "linux"), *b = jdoc_get(is, "linux");

	if (has_filter(was) && has_filter(is)) {
		list_allowed(a);
		list_allowed(b);
		shorten_lists(a, b, "seccomp");
	} else if (has_filter(is)) {
		jdoc_set_string(b, "seccomp", "custody's filter");
		(void)jdoc_remove(a, "seccomp");
	}
}

static void shorten(struct jdoc *was, struct jdoc *is)
{
	static const char *const sets[] = { "bounding", "effective", "permitted", "inheritable", "ambient" };
	struct jdoc *a = engine_make(engine_make(was, "process", JDOC_OBJECT), "capabilities", JDOC_OBJECT),
		    *b = engine_at(is, "process.capabilities");

	for (size_t i = 0; b && i < ARRAY_SIZE(sets); i++)
		shorten_lists(a, b, sets[i]);
	a = engine_make(was, "linux", JDOC_OBJECT);
	shorten_lists(a, jdoc_get(is, "linux"), "maskedPaths");
	shorten_lists(a, jdoc_get(is, "linux"), "readonlyPaths");
	shorten_seccomp(was, is);
}

int engine_change_list(const struct jdoc *engine, const struct jdoc *merged, struct jdoc **ret,
		       struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *was = jdoc_copy(engine), *is = jdoc_copy(merged), *list = NULL;

	if (!was || !is)
		return fault_errno(f, ENOMEM, "changes");
	shorten(was, is);
	list = subject_diff(was, is);
	if (!list || list->broken || was->broken || is->broken)
		return fault_errno(f, ENOMEM, "changes");
	*ret = TAKE_PTR(list);
	return 0;
}
