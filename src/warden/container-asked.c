/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/container-asked.h"

#include <errno.h>
#include <string.h>
#include <sys/capability.h>

#include "base/array.h"
#include "base/str.h"

#define CPU_PERIOD_DEFAULT_US 100000
#define UMASK_DEFAULT 022

const char *container_set_name(enum container_set s)
{
	static const char *const names[_CONTAINER_SET_MAX] = {
		[CONTAINER_SET_BOUNDING] = "bounding",	 [CONTAINER_SET_EFFECTIVE] = "effective",
		[CONTAINER_SET_PERMITTED] = "permitted", [CONTAINER_SET_INHERITABLE] = "inheritable",
		[CONTAINER_SET_AMBIENT] = "ambient",
	};

	return names[s];
}

size_t container_list_len(const struct jdoc *list)
{
	return list && list->type == JDOC_ARRAY ? list->n_items : 0;
}

static int read_capabilities(const struct jdoc *process, struct container_asked *a, struct fault *f)
{
	const struct jdoc *sets = jdoc_get(process, "capabilities");

	for (unsigned int s = 0; s < _CONTAINER_SET_MAX; s++) {
		const struct jdoc *list = jdoc_get(sets, container_set_name(s));

		for (size_t i = 0; i < container_list_len(list); i++) {
			const struct jdoc *name = list->items[i];
			cap_value_t value;

			/* An unknown name gives nothing: the runtime ignores or refuses it. */
			if (name->type != JDOC_STRING)
				return fault_set(f, EINVAL, "process.capabilities.%s: a name is not a string",
						 container_set_name(s));
			if (cap_from_name(name->string, &value) == 0 && value < 64)
				a->capabilities[s] |= UINT64_C(1) << value;
		}
	}
	return 0;
}

/* A member that is missing or not positive is no limit. */
static uint64_t get_limit(const struct jdoc *object, const char *key)
{
	const struct jdoc *d = jdoc_get(object, key);

	return d && d->type == JDOC_INT && d->integer > 0 ? (uint64_t)d->integer : 0;
}

static void read_limits(const struct jdoc *resources, struct container_asked *a)
{
	const struct jdoc *cpu = jdoc_get(resources, "cpu");

	a->memory = get_limit(jdoc_get(resources, "memory"), "limit");
	a->pids = get_limit(jdoc_get(resources, "pids"), "limit");
	a->cpu_quota = get_limit(cpu, "quota");
	a->cpu_period = get_limit(cpu, "period");
	if (!a->cpu_period)
		a->cpu_period = CPU_PERIOD_DEFAULT_US;
}

static bool has_namespace(const struct jdoc *list, const char *type)
{
	for (size_t i = 0; i < container_list_len(list); i++)
		if (str_eq(jdoc_get_string(list->items[i], "type"), type))
			return true;
	return false;
}

static bool is_true(const struct jdoc *d)
{
	return d && d->type == JDOC_BOOL && d->boolean;
}

static int64_t get_int(const struct jdoc *object, const char *key, int64_t missing)
{
	const struct jdoc *d = jdoc_get(object, key);

	return d && d->type == JDOC_INT ? d->integer : missing;
}

int container_asked_read(const struct jdoc *config, struct container_asked *ret, struct fault *f)
{
	const struct jdoc *process = jdoc_get(config, "process"), *user = jdoc_get(process, "user"),
			  *l = jdoc_get(config, "linux");
	struct container_asked a = { 0 };
	int r;

	if (!process || !l)
		return fault_set(f, EINVAL, "config.json has no %s", process ? "linux" : "process");
	r = read_capabilities(process, &a, f);
	if (r < 0)
		return r;
	a.uid = (uid_t)get_int(user, "uid", 0);
	a.gid = (gid_t)get_int(user, "gid", 0);
	a.groups = jdoc_get(user, "additionalGids");
	a.umask = (mode_t)get_int(user, "umask", UMASK_DEFAULT);
	a.masked = jdoc_get(l, "maskedPaths");
	a.read_only = jdoc_get(l, "readonlyPaths");
	a.devices = jdoc_get(l, "devices");
	a.mounts = jdoc_get(config, "mounts");
	a.rlimits = jdoc_get(process, "rlimits");
	a.root_read_only = is_true(jdoc_get(jdoc_get(config, "root"), "readonly"));
	a.user_namespace = has_namespace(jdoc_get(l, "namespaces"), "user");
	a.scheduler = jdoc_get(process, "scheduler") != NULL;
	a.cwd = jdoc_get_string(process, "cwd");
	a.oom_score_adj = get_int(process, "oomScoreAdj", 0);
	if (!a.cwd)
		return fault_set(f, EINVAL, "config.json has no process.cwd");
	read_limits(jdoc_get(l, "resources"), &a);
	*ret = a;
	return 0;
}

const char *container_asked_target(const struct container_asked *a, size_t i)
{
	return jdoc_get_string(a->mounts->items[i], "destination");
}

/* The last word decides, as in a runtime. */
bool container_asked_target_read_only(const struct container_asked *a, size_t i)
{
	const struct jdoc *options = jdoc_get(a->mounts->items[i], "options");
	bool read_only = false;

	for (size_t k = 0; k < container_list_len(options); k++) {
		const char *word = options->items[k]->type == JDOC_STRING ? options->items[k]->string : "";

		if (str_eq(word, "ro") || str_eq(word, "rro"))
			read_only = true;
		else if (str_eq(word, "rw") || str_eq(word, "rrw"))
			read_only = false;
	}
	return read_only;
}
