/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-exec-merge.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/engine/engine-field.h"
#include "oci/engine/engine-impl.h"

/* The container's, whatever PROCESS has: a process that has a label less would be another domain. */
static void take(struct jdoc *process, const struct jdoc *container, const char *key)
{
	const struct jdoc *v = jdoc_get(container, key);

	if (v)
		jdoc_set(process, key, jdoc_copy(v));
	else
		(void)jdoc_remove(process, key);
}

static void merge_no_new_privs(const struct jdoc *container, struct jdoc *process)
{
	const struct jdoc *v = jdoc_get(container, "noNewPrivileges");

	if (engine_is(v, JDOC_BOOL) && v->boolean)
		jdoc_set_bool(process, "noNewPrivileges", true);
}

static void intersect(struct jdoc *set, const struct jdoc *bounding)
{
	for (size_t i = set->n_items; i-- > 0;)
		if (!engine_is(set->items[i], JDOC_STRING) ||
		    !engine_list_has(bounding, set->items[i]->string))
			(void)jdoc_remove_item(set, i);
}

static void merge_capabilities(const struct jdoc *container, struct jdoc *process)
{
	static const char *const sets[] = { "bounding", "effective", "permitted", "inheritable", "ambient" };
	const struct jdoc *theirs = jdoc_get(container, "capabilities");
	struct jdoc *caps;

	/* Only where the profile leaves the capabilities to the engine. */
	if (!engine_is(theirs, JDOC_OBJECT))
		return;
	/* Without the object libcrun takes that of the container, or keeps those of its caller. */
	if (!engine_is(jdoc_get(process, "capabilities"), JDOC_OBJECT))
		jdoc_set(process, "capabilities", jdoc_copy(theirs));
	caps = engine_make(process, "capabilities", JDOC_OBJECT);
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		intersect(engine_make(caps, sets[i], JDOC_ARRAY), jdoc_get(theirs, "bounding"));
}

static uint64_t number(const struct jdoc *object, const char *key)
{
	const struct jdoc *v = jdoc_get(object, key);

	/* A missing one is 0 for libcrun.  Of a wide or negative one the bits count: no limit. */
	return engine_is(v, JDOC_INT) ? (uint64_t)v->integer : 0;
}

static struct jdoc *find_type(struct jdoc *list, const char *type)
{
	for (size_t i = 0; i < list->n_items; i++)
		if (str_eq(engine_text(list->items[i], "type"), type))
			return list->items[i];
	return NULL;
}

static void lower(struct jdoc *limit, const struct jdoc *theirs, const char *key)
{
	const struct jdoc *max = jdoc_get(theirs, "hard");

	if (max && number(limit, key) > number(theirs, "hard"))
		jdoc_set(limit, key, jdoc_copy(max));
}

/* One that PROCESS does not set would be that of the caller. */
static void merge_rlimits(const struct jdoc *container, struct jdoc *process)
{
	struct jdoc *list = engine_make(process, "rlimits", JDOC_ARRAY);

	for (size_t i = 0; i < engine_count(container, "rlimits"); i++) {
		const struct jdoc *theirs = engine_item(container, "rlimits", i);
		const char *type = engine_text(theirs, "type");
		struct jdoc *limit = type ? find_type(list, type) : NULL;

		if (!limit) {
			jdoc_append(list, jdoc_copy(theirs));
			continue;
		}
		lower(limit, theirs, "hard");
		lower(limit, theirs, "soft");
	}
}

/* A process that the kernel spares when memory is short makes it kill those of the host. */
static void merge_oom_score(const struct jdoc *container, struct jdoc *process)
{
	const struct jdoc *theirs = jdoc_get(container, "oomScoreAdj"),
			  *own = jdoc_get(process, "oomScoreAdj");

	if (!engine_is(theirs, JDOC_INT))
		(void)jdoc_remove(process, "oomScoreAdj");
	else if (!engine_is(own, JDOC_INT) || own->integer < theirs->integer)
		jdoc_set_int(process, "oomScoreAdj", theirs->integer);
}

int engine_exec_merge(const struct jdoc *container, struct jdoc *process, struct fault *f)
{
	int r = engine_schedule_require(process, f);

	if (r == 0)
		r = engine_rlimits_require(process, f);
	if (r < 0)
		return fault_wrap(f, r, "exec");
	merge_no_new_privs(container, process);
	merge_capabilities(container, process);
	merge_rlimits(container, process);
	merge_oom_score(container, process);
	take(process, container, "apparmorProfile");
	take(process, container, "selinuxLabel");
	return process->broken ? fault_errno(f, ENOMEM, "exec") : 0;
}
