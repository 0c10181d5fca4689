/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-change.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "subject/subject-diff.h"

/* "CAP_CHOWN CAP_KILL": a list compared by index would show every later item as changed. */
static void shorten_list(struct jdoc *object, const char *key)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };
	struct jdoc *list = jdoc_get(object, key);

	if (!engine_is(list, JDOC_ARRAY))
		return;
	engine_list_sort(list);
	for (size_t i = 0; i < list->n_items; i++)
		if (list->items[i]->type == JDOC_STRING)
			strbuf_printf(&t, "%s%s", t.len > 0 ? " " : "", list->items[i]->string);
	jdoc_set_string(object, key, t.broken ? NULL : t.text ? t.text : "");
}

static size_t count_allowed(const struct jdoc *seccomp)
{
	size_t n = 0;

	for (size_t i = 0; i < engine_count(seccomp, "syscalls"); i++)
		if (str_eq(engine_text(engine_item(seccomp, "syscalls", i), "action"), "SCMP_ACT_ALLOW"))
			n += engine_count(engine_item(seccomp, "syscalls", i), "names");
	return n;
}

static void shorten_seccomp(struct jdoc *part)
{
	const struct jdoc *seccomp = jdoc_get(part, "seccomp");
	const char *action = engine_text(seccomp, "defaultAction");
	char text[160];

	if (!engine_is(seccomp, JDOC_OBJECT))
		return;
	(void)snprintf(text, sizeof(text), "%zu allowed names, others %.64s", count_allowed(seccomp),
		       action ? action : "?");
	jdoc_set_string(part, "seccomp", text);
}

static void shorten(struct jdoc *config)
{
	static const char *const sets[] = { "bounding", "effective", "permitted", "inheritable", "ambient" };
	struct jdoc *part = jdoc_get(config, "linux"), *caps = engine_at(config, "process.capabilities");

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		shorten_list(caps, sets[i]);
	shorten_list(part, "maskedPaths");
	shorten_list(part, "readonlyPaths");
	shorten_seccomp(part);
}

int engine_change_list(const struct jdoc *engine, const struct jdoc *merged, struct jdoc **ret,
		       struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *was = jdoc_copy(engine), *is = jdoc_copy(merged), *list = NULL;

	if (!was || !is)
		return fault_errno(f, ENOMEM, "changes");
	shorten(was);
	shorten(is);
	list = subject_diff(was, is);
	if (!list || list->broken || was->broken || is->broken)
		return fault_errno(f, ENOMEM, "changes");
	*ret = TAKE_PTR(list);
	return 0;
}
