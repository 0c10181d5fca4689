/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/engine/engine-filesystem.h"
#include "oci/engine/engine-impl.h"
#include "oci/engine/engine-mount.h"
#include "engine-tight-filter.h"

/*
 * Is a merged configuration nowhere looser than the engine's, nor than the profile where that restricts?  Written from
 * docs/design/engine.md, without the code of the merge; for the property test and the fuzzer.
 */

static inline bool tight_is_part(const struct jdoc *small, const struct jdoc *large)
{
	for (size_t i = 0; engine_is(small, JDOC_ARRAY) && i < small->n_items; i++)
		if (engine_is(small->items[i], JDOC_STRING) &&
		    !engine_list_has(large, small->items[i]->string))
			return false;
	return true;
}

static inline const char *tight_capabilities(const struct jdoc *engine, const struct jdoc *merged,
					     const struct profile *p)
{
	static const char *const sets[] = { "bounding", "effective", "permitted", "inheritable", "ambient" };
	const struct jdoc *was = engine_at(engine, "process.capabilities"),
			  *is = engine_at(merged, "process.capabilities");

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		const struct jdoc *set = jdoc_get(is, sets[i]);

		if (!engine_is(set, JDOC_ARRAY))
			return "a set of capabilities is missing";
		if (!tight_is_part(set, jdoc_get(was, sets[i])))
			return "a capability that the engine did not give";
		for (size_t k = 0; k < set->n_items; k++)
			if (!engine_is(set->items[k], JDOC_STRING) ||
			    !strv_has(p->container_capabilities, set->items[k]->string))
				return "a capability that the profile does not allow";
	}
	return NULL;
}

static inline bool tight_limit(int64_t was, int64_t is, uint64_t max)
{
	bool unlimited = is <= 0;

	if (max > 0 && (unlimited || (uint64_t)is > max))
		return false;
	return was <= 0 || (!unlimited && is <= was);
}

static inline const char *tight_resources(const struct jdoc *engine, const struct jdoc *merged,
					  const struct profile *p)
{
	int64_t period = tight_number(merged, "linux.resources.cpu.period", 100000);
	int64_t before = tight_number(engine, "linux.resources.cpu.period", 100000);

	if (!tight_limit(tight_number(engine, "linux.resources.memory.limit", 0),
			 tight_number(merged, "linux.resources.memory.limit", 0), p->limit_memory))
		return "the limit of memory";
	if (!tight_limit(tight_number(engine, "linux.resources.pids.limit", 0),
			 tight_number(merged, "linux.resources.pids.limit", 0), p->limit_pids))
		return "the limit of processes";
	if (before == period && !tight_limit(tight_number(engine, "linux.resources.cpu.quota", 0),
					     tight_number(merged, "linux.resources.cpu.quota", 0),
					     period > 0 ? (uint64_t)period * p->limit_cpu_percent / 100 : 0))
		return "the limit of cpu time";
	return NULL;
}

static inline const struct jdoc *tight_rlimit(const struct jdoc *config, const char *type)
{
	for (size_t i = 0; i < engine_count(config, "process.rlimits"); i++)
		if (str_eq(engine_text(engine_item(config, "process.rlimits", i), "type"), type))
			return engine_item(config, "process.rlimits", i);
	return NULL;
}

static inline const char *tight_rlimits(const struct jdoc *engine, const struct jdoc *merged)
{
	const struct jdoc *core = tight_rlimit(merged, "RLIMIT_CORE");

	if (!core || tight_number(core, "hard", 1) != 0 || tight_number(core, "soft", 1) != 0)
		return "core files";
	for (size_t i = 0; i < engine_count(engine, "process.rlimits"); i++) {
		const struct jdoc *was = engine_item(engine, "process.rlimits", i);
		const char *type = engine_text(was, "type");
		const struct jdoc *is = type ? tight_rlimit(merged, type) : NULL;

		if (is && tight_number(was, "hard", INT64_MAX) >= 0 &&
		    tight_number(is, "hard", 0) > tight_number(was, "hard", INT64_MAX))
			return "a resource limit";
	}
	return NULL;
}

static inline bool tight_is_at(const struct jdoc *mount, const char *path)
{
	_cleanup_free_ char *target = engine_mount_target(mount);

	return str_eq(target, path);
}

static inline const char *tight_mounts(const struct jdoc *engine, const struct jdoc *merged)
{
	if (engine_count(engine, "mounts") != engine_count(merged, "mounts"))
		return "the number of mounts";
	for (size_t i = 0; i < engine_count(merged, "mounts"); i++) {
		const struct jdoc *was = engine_item(engine, "mounts", i),
				  *is = engine_item(merged, "mounts", i);
		const struct jdoc *options = jdoc_get(is, "options");

		const char *source = engine_text(was, "source"), *type = engine_text(is, "type");
		bool bind = str_eq(type, "bind") || engine_list_has(options, "bind") ||
			    engine_list_has(options, "rbind");

		if (bind && (!engine_text(is, "source") || *engine_text(is, "source") != '/'))
			return "a bind of a relative path";
		if (!bind && !engine_filesystem_is_listed(type))
			return "a file system of the host";
		if (!bind && str_eq(type, "sysfs") && !engine_mount_is_readonly(is))
			return "a writable sysfs";
		if (!bind && str_eq(type, "proc") && !tight_is_at(is, "/proc"))
			return "a proc that is not masked";
		if ((!source || *source == '/' || !bind) && !str_eq(source, engine_text(is, "source")))
			return "a mount is another one";
		if (!str_eq(engine_text(was, "destination"), engine_text(is, "destination")))
			return "a mount is another one";
		if (engine_list_has(options, "shared") || engine_list_has(options, "rshared"))
			return "a shared mount";
		if (engine_mount_is_readonly(was) && !engine_mount_is_readonly(is))
			return "a read-only mount became writable";
	}
	return NULL;
}

static inline const char *tight_paths(const struct jdoc *engine, const struct jdoc *merged)
{
	const struct jdoc *masked = engine_at(merged, "linux.maskedPaths"),
			  *ro = engine_at(merged, "linux.readonlyPaths");

	if (!tight_is_part(engine_at(engine, "linux.maskedPaths"), masked) ||
	    !tight_is_part(engine_at(engine, "linux.readonlyPaths"), ro))
		return "a path of the engine is not masked";
	for (size_t i = 0; engine_masked_paths[i]; i++)
		if (!engine_list_has(masked, engine_masked_paths[i]))
			return "a path is not masked";
	for (size_t i = 0; engine_readonly_paths[i]; i++)
		if (!engine_list_has(ro, engine_readonly_paths[i]))
			return "a path is not read-only";
	return NULL;
}

static inline const char *tight_namespaces(const struct jdoc *engine, const struct jdoc *merged)
{
	static const char *const required[] = { "pid", "mount", "ipc", "uts", "network", "cgroup" };

	if (engine_count(merged, "linux.namespaces") < engine_count(engine, "linux.namespaces"))
		return "a namespace is gone";
	for (size_t i = 0; i < ARRAY_SIZE(required); i++) {
		bool found = false;

		for (size_t k = 0; k < engine_count(merged, "linux.namespaces"); k++)
			found = found ||
				str_eq(engine_text(engine_item(merged, "linux.namespaces", k), "type"),
				       required[i]);
		if (!found)
			return required[i];
	}
	return NULL;
}

static inline const char *tight_devices(const struct jdoc *engine, const struct jdoc *merged)
{
	for (size_t i = 0; i < engine_count(merged, "linux.resources.devices"); i++) {
		const struct jdoc *rule = engine_item(merged, "linux.resources.devices", i),
				  *allow = jdoc_get(rule, "allow");
		bool found = false;

		if (!engine_is(allow, JDOC_BOOL) || !allow->boolean)
			continue;
		for (size_t k = 0; !found && k < engine_count(engine, "linux.resources.devices"); k++)
			found = jdoc_equal(rule, engine_item(engine, "linux.resources.devices", k));
		if (!found)
			return "a device that the engine did not allow";
		if (!str_eq(engine_text(rule, "access"), "m") && tight_number(rule, "major", -1) < 0)
			return "every device";
	}
	return NULL;
}

/* NULL, or the part that is looser. */
static inline const char *tight_check(const struct jdoc *engine, const struct jdoc *merged,
				      const struct profile *p, const struct engine_calls *calls)
{
	const struct jdoc *nnp = engine_at(merged, "process.noNewPrivileges");
	const char *what = engine_is(nnp, JDOC_BOOL) && nnp->boolean ? NULL : "no new privileges";

	if (!what)
		what = tight_capabilities(engine, merged, p);
	if (!what)
		what = tight_rlimits(engine, merged);
	if (!what)
		what = tight_resources(engine, merged, p);
	if (!what)
		what = tight_mounts(engine, merged);
	if (!what)
		what = tight_paths(engine, merged);
	if (!what)
		what = tight_namespaces(engine, merged);
	if (!what)
		what = tight_devices(engine, merged);
	return what ? what : tight_filter(engine, merged, calls);
}
