/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-exec-probe.h"

#include <stdint.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/engine/engine-field.h"
#include "oci/engine/engine-impl.h"

static bool is_listed(const struct jdoc *allow, const struct jdoc *args)
{
	for (size_t i = 0; engine_is(allow, JDOC_ARRAY) && i < allow->n_items; i++)
		if (jdoc_equal(allow->items[i], args))
			return true;
	return false;
}

static bool is_below(const struct jdoc *list, const struct jdoc *of)
{
	for (size_t i = 0; engine_is(list, JDOC_ARRAY) && i < list->n_items; i++)
		if (!engine_is(list->items[i], JDOC_STRING) || !engine_list_has(of, list->items[i]->string))
			return false;
	return true;
}

static bool has_its_capabilities(const struct jdoc *container, const struct jdoc *process)
{
	static const char *const sets[] = { "bounding", "effective", "permitted", "inheritable", "ambient" };
	const struct jdoc *own = jdoc_get(process, "capabilities"),
			  *theirs = jdoc_get(container, "capabilities");

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		if (!is_below(jdoc_get(own, sets[i]), jdoc_get(theirs, sets[i])))
			return false;
	return true;
}

/* Number of one member, which is 0 if it is missing. */
static int64_t id_of(const struct jdoc *process, const char *key)
{
	const struct jdoc *v = jdoc_get(jdoc_get(process, "user"), key);

	return engine_is(v, JDOC_INT) ? v->integer : 0;
}

static bool has_its_user(const struct jdoc *container, const struct jdoc *process)
{
	return id_of(container, "uid") == id_of(process, "uid") &&
	       id_of(container, "gid") == id_of(process, "gid");
}

/* In ENV and not in THEIRS; SIZE_MAX: not there. */
static size_t find_added_home(const struct jdoc *theirs, const struct jdoc *env)
{
	for (size_t i = 0; engine_is(env, JDOC_ARRAY) && i < env->n_items; i++)
		if (engine_is(env->items[i], JDOC_STRING) && str_starts(env->items[i]->string, "HOME=") &&
		    !engine_list_has(theirs, env->items[i]->string))
			return i;
	return SIZE_MAX;
}

static bool has_its_variables(const struct jdoc *container, const struct jdoc *process, size_t home)
{
	const struct jdoc *env = jdoc_get(process, "env"), *theirs = jdoc_get(container, "env");

	for (size_t i = 0; engine_is(env, JDOC_ARRAY) && i < env->n_items; i++)
		if (i != home && (!engine_is(env->items[i], JDOC_STRING) ||
				  !engine_list_has(theirs, env->items[i]->string)))
			return false;
	return true;
}

/* Every other member, which may take time or processors from others. */
static bool has_its_other_members(const struct jdoc *container, const struct jdoc *process)
{
	static const char *const judged[] = { "args",	      "cwd",	      "env",
					      "user",	      "capabilities", "noNewPrivileges",
					      "rlimits",      "oomScoreAdj",  "apparmorProfile",
					      "selinuxLabel", "consoleSize",  "terminal" };

	for (size_t i = 0; i < process->n_members; i++) {
		const struct jdoc_member *m = process->members + i;
		bool other = !engine_field_is_empty(m->value);

		for (size_t k = 0; other && k < ARRAY_SIZE(judged); k++)
			other = strcmp(m->key, judged[k]) != 0;
		if (other &&
		    (!jdoc_get(container, m->key) || !jdoc_equal(m->value, jdoc_get(container, m->key))))
			return false;
	}
	return true;
}

static bool is_probe(const struct jdoc *allow, const struct jdoc *container, const struct jdoc *process,
		     size_t home)
{
	const char *cwd = engine_text(process, "cwd");

	return is_listed(allow, jdoc_get(process, "args")) && has_its_user(container, process) &&
	       has_its_variables(container, process, home) && has_its_capabilities(container, process) &&
	       has_its_other_members(container, process) &&
	       (str_eq(cwd, "/") || str_eq(cwd, engine_text(container, "cwd")));
}

bool engine_exec_take_probe(const struct jdoc *allow, const struct jdoc *container, struct jdoc *process)
{
	const struct jdoc *user = jdoc_get(container, "user");
	size_t home = find_added_home(jdoc_get(container, "env"), jdoc_get(process, "env"));

	if (!is_probe(allow, container, process, home))
		return false;
	if (home != SIZE_MAX)
		(void)jdoc_remove_item(jdoc_get(process, "env"), home);
	if (user)
		jdoc_set(process, "user", jdoc_copy(user));
	else
		(void)jdoc_remove(process, "user");
	return true;
}
