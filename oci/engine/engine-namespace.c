/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-namespace.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/str.h"
#include "layer/layer.h"
#include "oci/engine/engine-docker.h"
#include "oci/engine/engine-hook.h"
#include "oci/engine/engine-impl.h"

/* clang-format off */
static const struct {
	const char *type, *own, *first;
	enum layer layer;
} kinds[] = {
	[ENGINE_NS_USER] =    { "user", "/proc/self/ns/user", "/proc/1/ns/user", LAYER_USER_NS },
	[ENGINE_NS_PID] =     { "pid", "/proc/self/ns/pid", "/proc/1/ns/pid", LAYER_PID_NS },
	[ENGINE_NS_MOUNT] =   { "mount", "/proc/self/ns/mnt", "/proc/1/ns/mnt", LAYER_MOUNT_NS },
	[ENGINE_NS_NETWORK] = { "network", "/proc/self/ns/net", "/proc/1/ns/net", LAYER_NET_NS },
	[ENGINE_NS_IPC] =     { "ipc", "/proc/self/ns/ipc", "/proc/1/ns/ipc", LAYER_IPC_NS },
	[ENGINE_NS_UTS] =     { "uts", "/proc/self/ns/uts", "/proc/1/ns/uts", LAYER_UTS_NS },
	[ENGINE_NS_CGROUP] =  { "cgroup", "/proc/self/ns/cgroup", "/proc/1/ns/cgroup", LAYER_CGROUP_NS },
	[ENGINE_NS_TIME] =    { "time", "/proc/self/ns/time", "/proc/1/ns/time", LAYER_PID_NS },
};
/* clang-format on */
_Static_assert(ARRAY_SIZE(kinds) == _ENGINE_NS_MAX, "a row for each kind");

const char *engine_namespace_name(enum engine_namespace n)
{
	return kinds[n].type;
}

enum layer engine_namespace_layer(enum engine_namespace n)
{
	return kinds[n].layer;
}

static bool is_same(const char *path, const char *other)
{
	struct stat a, b;

	return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* A path that leads to the namespace of the runtime, which is the engine's, or of the first process. */
static bool is_host(const char *path, enum engine_namespace n)
{
	return is_same(path, kinds[n].own) || is_same(path, kinds[n].first);
}

enum engine_namespace_state engine_namespace_state(const struct jdoc *config, enum engine_namespace n)
{
	for (size_t i = 0; i < engine_count(config, "linux.namespaces"); i++) {
		const struct jdoc *item = engine_item(config, "linux.namespaces", i);
		const char *path = engine_text(item, "path");

		if (!str_eq(engine_text(item, "type"), kinds[n].type))
			continue;
		if (!path || !*path)
			return ENGINE_NS_OWN;
		return is_host(path, n) ? ENGINE_NS_HOST : ENGINE_NS_JOINED;
	}
	return ENGINE_NS_HOST;
}

const char *engine_namespace_state_name(enum engine_namespace_state s)
{
	static const char *const names[] = {
		[ENGINE_NS_HOST] = "host",
		[ENGINE_NS_JOINED] = "joined",
		[ENGINE_NS_OWN] = "own",
	};

	return names[s];
}

static int require_own(const struct engine_work *w, enum engine_namespace n, const char *word)
{
	if (engine_namespace_state(w->config, n) != ENGINE_NS_HOST || !engine_asks(w, kinds[n].layer))
		return 0;
	return engine_require_danger(w, word, "'linux.namespaces': the container has the host's %s namespace",
				     kinds[n].type);
}

/* Rootless engines run their runtime in a user namespace. */
bool engine_caller_is_mapped(void)
{
	unsigned int inside = 1, outside = 0, size = 0;
	FILE *file = fopen("/proc/self/uid_map", "re");
	int n = file ? fscanf(file, "%u %u %u", &inside, &outside, &size) : 0;

	if (file)
		(void)fclose(file);
	return n == 3 && !(inside == 0 && outside == 0 && size == UINT32_MAX);
}

static bool maps_root(const struct jdoc *config)
{
	for (size_t i = 0; i < engine_count(config, "linux.uidMappings"); i++) {
		const struct jdoc *host = jdoc_get(engine_item(config, "linux.uidMappings", i), "hostID");

		if (!engine_is(host, JDOC_INT) || host->integer == 0)
			return true;
	}
	return engine_count(config, "linux.uidMappings") == 0;
}

bool engine_has_user_namespace(const struct jdoc *config)
{
	if (engine_caller_is_mapped())
		return true;
	switch (engine_namespace_state(config, ENGINE_NS_USER)) {
	case ENGINE_NS_OWN:
		return !maps_root(config);
	case ENGINE_NS_JOINED:
		return true;
	case ENGINE_NS_HOST:
		break;
	}
	return false;
}

static int require_user(const struct engine_work *w)
{
	const struct profile *p = w->in->profile;

	if (p->container_user_namespace != PROFILE_CONTAINER_USER_REQUIRE ||
	    engine_has_user_namespace(w->config))
		return 0;
	return fault_set(w->f, EPERM,
			 "config.json: 'linux.namespaces': profile '%s' requires a user namespace in which "
			 "root is not the host's: podman run "
			 "--userns=auto, dockerd --userns-remap, hostUsers: false in a pod",
			 p->name);
}

static int require_network(const struct engine_work *w)
{
	const struct profile *p = w->in->profile;
	int r = require_own(w, ENGINE_NS_NETWORK, "host-network");

	if (r < 0 || p->container_network == PROFILE_CONTAINER_NETWORK_ENGINE ||
	    p->network == PROFILE_NETWORK_HOST || engine_has_no_network(w->config, &w->names))
		return r;
	return fault_set(w->f, EPERM,
			 "config.json: 'linux.namespaces': profile '%s' allows no network: podman run "
			 "--network none; a profile "
			 "with \"container\": {\"network\": \"engine\"} allows the engine's",
			 p->name);
}

/*
 * Engines configure a network in three ways: in a namespace that the configuration names, by a hook, or from outside
 * after the container was created, which podman does where it has a user namespace of its own.
 */
bool engine_has_no_network(const struct jdoc *config, const struct engine_names *names)
{
	size_t hooks = engine_hook_count(config);

	if (engine_namespace_state(config, ENGINE_NS_NETWORK) != ENGINE_NS_OWN ||
	    engine_namespace_state(config, ENGINE_NS_USER) == ENGINE_NS_OWN)
		return false;
	return hooks == 0 || (hooks == 1 && engine_docker_has_no_network(config, names));
}

/* docker and podman leave it out on cgroup v1: a container would see the host's cgroups. */
static void add_cgroup(struct engine_work *w)
{
	struct jdoc *list;

	if (engine_namespace_state(w->config, ENGINE_NS_CGROUP) != ENGINE_NS_HOST ||
	    !engine_asks(w, LAYER_CGROUP_NS))
		return;
	list = engine_make(engine_make(w->config, "linux", JDOC_OBJECT), "namespaces", JDOC_ARRAY);
	for (size_t i = list->n_items; i-- > 0;)
		if (str_eq(engine_text(list->items[i], "type"), "cgroup"))
			(void)jdoc_remove_item(list, i);
	jdoc_set_string(jdoc_append_object(list), "type", "cgroup");
}

int engine_merge_namespaces(struct engine_work *w)
{
	static const struct {
		enum engine_namespace n;
		const char *word;
	} required[] = {
		{ ENGINE_NS_PID, "no-pid-namespace" },
		{ ENGINE_NS_MOUNT, "no-mount-namespace" },
		{ ENGINE_NS_IPC, "no-ipc-namespace" },
		{ ENGINE_NS_UTS, "no-uts-namespace" },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(required); i++)
		r = require_own(w, required[i].n, required[i].word);
	if (r == 0)
		r = require_network(w);
	if (r == 0)
		r = require_user(w);
	if (r == 0)
		add_cgroup(w);
	return r;
}
