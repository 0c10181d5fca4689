/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "tests/unit/engine-tight.h"

/*
 * Is the merged PROCESS of an exec nowhere looser than CONTAINER, the container's own?  Written from docs/design/engine.md, without the
 * code of the merge; for the unit test and the fuzzer.  NULL, or the looser member.
 */
static inline bool tight_exec_sets(const struct jdoc *container, const struct jdoc *process)
{
	const struct jdoc *theirs = jdoc_get(container, "capabilities"),
			  *own = jdoc_get(process, "capabilities");

	if (!engine_is(theirs, JDOC_OBJECT))
		return true;
	for (size_t i = 0; engine_is(own, JDOC_OBJECT) && i < own->n_members; i++) {
		const struct jdoc *set = own->members[i].value;

		for (size_t k = 0; engine_is(set, JDOC_ARRAY) && k < set->n_items; k++)
			if (!engine_is(set->items[k], JDOC_STRING) ||
			    !engine_list_has(jdoc_get(theirs, "bounding"), set->items[k]->string))
				return false;
	}
	return engine_is(own, JDOC_OBJECT);
}

static inline uint64_t tight_exec_limit(const struct jdoc *limit, const char *key)
{
	const struct jdoc *v = jdoc_get(limit, key);

	return engine_is(v, JDOC_INT) ? (uint64_t)v->integer : 0;
}

static inline bool tight_exec_rlimits(const struct jdoc *container, const struct jdoc *process)
{
	for (size_t i = 0; i < engine_count(container, "rlimits"); i++) {
		const struct jdoc *theirs = engine_item(container, "rlimits", i);
		const char *type = engine_text(theirs, "type");
		uint64_t max = tight_exec_limit(theirs, "hard");
		size_t found = 0;

		for (size_t k = 0; k < engine_count(process, "rlimits"); k++) {
			const struct jdoc *own = engine_item(process, "rlimits", k);

			if (!str_eq(engine_text(own, "type"), type))
				continue;
			found++;
			if (tight_exec_limit(own, "hard") > max || tight_exec_limit(own, "soft") > max)
				return false;
		}
		if (type && found != 1)
			return false;
	}
	return true;
}

static inline const char *tight_exec_check(const struct jdoc *container, const struct jdoc *process)
{
	static const char *const labels[] = { "apparmorProfile", "selinuxLabel" };
	const struct jdoc *no_new_privs = jdoc_get(container, "noNewPrivileges");

	if (engine_is(no_new_privs, JDOC_BOOL) && no_new_privs->boolean &&
	    (!engine_is(jdoc_get(process, "noNewPrivileges"), JDOC_BOOL) ||
	     !jdoc_get(process, "noNewPrivileges")->boolean))
		return "noNewPrivileges";
	if (!tight_exec_sets(container, process))
		return "capabilities";
	if (!tight_exec_rlimits(container, process))
		return "rlimits";
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		const struct jdoc *a = jdoc_get(container, labels[i]), *b = jdoc_get(process, labels[i]);

		if (a ? !b || !jdoc_equal(a, b) : b != NULL)
			return labels[i];
	}
	if (tight_number(process, "oomScoreAdj", 0) < tight_number(container, "oomScoreAdj", -1000))
		return "oomScoreAdj";
	return NULL;
}
