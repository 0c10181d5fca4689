/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "layer/layer.h"
#include "oci/engine/engine-impl.h"

/* A set that is missing is empty for libcrun, so nothing is added to it. */
static void intersect_capabilities(struct jdoc *set, char *const *allowed)
{
	for (size_t i = engine_is(set, JDOC_ARRAY) ? set->n_items : 0; i-- > 0;)
		if (!engine_is(set->items[i], JDOC_STRING) || !strv_has(allowed, set->items[i]->string))
			(void)jdoc_remove_item(set, i);
}

static void merge_capabilities(struct engine_work *w, struct jdoc *process)
{
	static const char *const sets[] = { "bounding", "effective", "permitted", "inheritable", "ambient" };
	struct jdoc *caps;

	if (!engine_asks(w, LAYER_CAPABILITIES))
		return;
	/* Without the object libcrun keeps every capability of its caller. */
	caps = engine_make(process, "capabilities", JDOC_OBJECT);
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		intersect_capabilities(engine_make(caps, sets[i], JDOC_ARRAY),
				       w->in->profile->container_capabilities);
}

static struct jdoc *find_rlimit(struct jdoc *list, const char *type)
{
	for (size_t i = 0; i < list->n_items; i++)
		if (str_eq(engine_text(list->items[i], "type"), type))
			return list->items[i];
	return NULL;
}

static void lower(struct jdoc *object, const char *key, uint64_t max)
{
	const struct jdoc *v = jdoc_get(object, key);

	if (!engine_is(v, JDOC_INT) || (uint64_t)v->integer > max)
		jdoc_set_int(object, key, (int64_t)max);
}

static void merge_rlimit(struct jdoc *list, const char *type, uint64_t max)
{
	struct jdoc *limit = find_rlimit(list, type);

	if (!limit) {
		limit = jdoc_append_object(list);
		jdoc_set_string(limit, "type", type);
	}
	lower(limit, "hard", max);
	lower(limit, "soft", max);
}

int engine_rlimits_require(const struct jdoc *process, struct fault *f)
{
	const struct jdoc *list = jdoc_get(process, "rlimits");

	for (size_t i = 0; engine_is(list, JDOC_ARRAY) && i < list->n_items; i++)
		for (size_t k = 0; k < i; k++)
			if (str_eq(engine_text(list->items[i], "type"), engine_text(list->items[k], "type")))
				return fault_set(f, EPERM,
						 "'process.rlimits[%zu]': the type is already in [%zu]", i,
						 k);
	return 0;
}

/* A core file would be written by the host's kernel, to where the host's core_pattern says. */
static int merge_rlimits(struct engine_work *w, struct jdoc *process)
{
	struct jdoc *list = engine_make(process, "rlimits", JDOC_ARRAY);
	int r = engine_rlimits_require(process, w->f);

	if (r < 0)
		return fault_wrap(w->f, r, "config.json");
	merge_rlimit(list, "RLIMIT_CORE", 0);
	if (w->in->profile->limit_files)
		merge_rlimit(list, "RLIMIT_NOFILE", w->in->profile->limit_files);
	return 0;
}

int engine_schedule_require(const struct jdoc *process, struct fault *f)
{
	static const char *const policies[] = { "SCHED_OTHER", "SCHED_BATCH", "SCHED_IDLE" };
	const char *policy = engine_text(process, "scheduler.policy");

	for (size_t i = 0; policy && *policy; i++) {
		if (i == ARRAY_SIZE(policies))
			return fault_set(f, EPERM,
					 "'process.scheduler.policy' %.32s is refused: it stops "
					 "other processes of the host",
					 policy);
		if (strcmp(policy, policies[i]) == 0)
			break;
	}
	if (str_eq(engine_text(process, "ioPriority.class"), "IOPRIO_CLASS_RT"))
		return fault_set(f, EPERM,
				 "'process.ioPriority.class' IOPRIO_CLASS_RT is refused: it "
				 "stops input and output of the host");
	return 0;
}

int engine_merge_process(struct engine_work *w)
{
	struct jdoc *process = jdoc_get(w->config, "process");
	int r;

	if (engine_asks(w, LAYER_NO_NEW_PRIVS))
		jdoc_set_bool(process, "noNewPrivileges", true);
	merge_capabilities(w, process);
	r = merge_rlimits(w, process);
	if (r < 0)
		return r;
	r = engine_schedule_require(process, w->f);
	return r < 0 ? fault_wrap(w->f, r, "config.json") : 0;
}
