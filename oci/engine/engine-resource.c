/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "layer/layer.h"
#include "oci/engine/engine-impl.h"

/*
 * Limits: the smaller one of the engine's and the profile's.  In config.json 0 and -1 mean none; cgroup files on v2 may be named
 * directly (`unified`), with "max" for none.
 */
#define PERIOD_US 100000

static bool is_limit(const struct jdoc *v)
{
	return engine_is(v, JDOC_INT) && !v->wide && v->integer > 0;
}

/* True if the engine's was lowered, or missing. */
static bool lower(struct jdoc *object, const char *key, uint64_t max)
{
	const struct jdoc *v = jdoc_get(object, key);

	if (max == 0 || (is_limit(v) && (uint64_t)v->integer <= max))
		return false;
	jdoc_set_int(object, key, (int64_t)max);
	return true;
}

static void merge_memory(struct engine_work *w, struct jdoc *resources)
{
	uint64_t max = w->in->profile->limit_memory;
	struct jdoc *memory = jdoc_get(resources, "memory");

	if (engine_is(memory, JDOC_OBJECT) && jdoc_get(memory, "disableOOMKiller"))
		jdoc_set_bool(memory, "disableOOMKiller", false);
	if (max == 0)
		return;
	memory = engine_make(resources, "memory", JDOC_OBJECT);
	if (!lower(memory, "limit", max))
		return;
	/* The sum of memory and swap: never below the limit, which the kernel refuses. */
	if (jdoc_get(memory, "swap"))
		jdoc_set_int(memory, "swap", (int64_t)max);
	if (is_limit(jdoc_get(memory, "reservation")))
		(void)lower(memory, "reservation", max);
}

static uint64_t quota_of(uint64_t period, uint64_t percent)
{
	return period * percent / 100;
}

static void merge_cpu(struct engine_work *w, struct jdoc *resources)
{
	uint64_t percent = w->in->profile->limit_cpu_percent, period = PERIOD_US;
	struct jdoc *cpu;

	if (percent == 0)
		return;
	cpu = engine_make(resources, "cpu", JDOC_OBJECT);
	/* The kernel takes 1 ms to 1 s: with another period it would refuse, not ignore the quota. */
	if (is_limit(jdoc_get(cpu, "period")) && jdoc_get(cpu, "period")->integer <= 1000000)
		period = (uint64_t)jdoc_get(cpu, "period")->integer;
	jdoc_set_int(cpu, "period", (int64_t)period);
	if (lower(cpu, "quota", quota_of(period, percent)) && jdoc_get(cpu, "burst"))
		jdoc_set_int(cpu, "burst", 0);
}

static void merge_pids(struct engine_work *w, struct jdoc *resources)
{
	if (w->in->profile->limit_pids > 0)
		(void)lower(engine_make(resources, "pids", JDOC_OBJECT), "limit", w->in->profile->limit_pids);
}

/* --- unified ------------------------------------------------------------------------------------------------- */

static void lower_file(struct jdoc *unified, const char *key, uint64_t max)
{
	const char *text = jdoc_get_string(unified, key);
	char number[32];
	uint64_t value;

	if (!text || max == 0 || (str_to_u64(text, &value) == 0 && value <= max))
		return;
	(void)snprintf(number, sizeof(number), "%" PRIu64, max);
	jdoc_set_string(unified, key, number);
}

/* "QUOTA PERIOD", "max PERIOD" or one word. */
static void lower_cpu_max(struct jdoc *unified, uint64_t percent)
{
	const char *text = jdoc_get_string(unified, "cpu.max");
	uint64_t quota = UINT64_MAX, period = PERIOD_US;
	char line[64], word[64];
	size_t len;

	if (!text || percent == 0)
		return;
	len = strcspn(text, " ");
	if (len >= sizeof(word))
		return;
	memcpy(word, text, len);
	word[len] = '\0';
	(void)str_to_u64(word, &quota);
	if (text[len] == ' ' && (str_to_u64(text + len + 1, &period) < 0 || period > 1000000))
		period = PERIOD_US;
	if (quota <= quota_of(period, percent))
		return;
	(void)snprintf(line, sizeof(line), "%" PRIu64 " %" PRIu64, quota_of(period, percent), period);
	jdoc_set_string(unified, "cpu.max", line);
}

/* Files that set limits or weights.  Others kill, freeze, move processes or delegate control. */
static bool is_limit_file(const char *name)
{
	static const char *const controllers[] = { "memory.", "cpu.",	  "cpuset.", "pids.",
						   "io.",     "hugetlb.", "misc." };

	/* Takes processors away from every other cgroup. */
	if (str_starts(name, "cpuset.cpus.partition") || str_starts(name, "cpuset.cpus.exclusive"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(controllers); i++)
		if (str_starts(name, controllers[i]))
			return !strchr(name, '/');
	return false;
}

static int merge_unified(struct engine_work *w, struct jdoc *resources)
{
	const struct profile *p = w->in->profile;
	struct jdoc *unified = jdoc_get(resources, "unified");

	if (!engine_is(unified, JDOC_OBJECT))
		return 0;
	for (size_t i = 0; i < unified->n_members; i++)
		if (!is_limit_file(unified->members[i].key))
			return fault_set(w->f, EPERM,
					 "config.json: 'linux.resources.unified.%.100s' is refused: not a "
					 "file of a limit",
					 unified->members[i].key);
	lower_file(unified, "memory.max", p->limit_memory);
	lower_file(unified, "memory.high", p->limit_memory);
	lower_file(unified, "memory.swap.max", p->limit_memory);
	lower_file(unified, "pids.max", p->limit_pids);
	lower_cpu_max(unified, p->limit_cpu_percent);
	return 0;
}

int engine_merge_resources(struct engine_work *w)
{
	const struct profile *p = w->in->profile;
	struct jdoc *linux_part = jdoc_get(w->config, "linux"),
		    *resources = jdoc_get(linux_part, "resources");

	if (!engine_is(resources, JDOC_OBJECT)) {
		if (!p->limit_memory && !p->limit_pids && !p->limit_cpu_percent)
			return 0;
		resources = engine_make(linux_part, "resources", JDOC_OBJECT);
	}
	merge_memory(w, resources);
	merge_cpu(w, resources);
	merge_pids(w, resources);
	return merge_unified(w, resources);
}
