/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-sysctl.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/engine/engine-impl.h"
#include "oci/engine/engine-namespace.h"

/*
 * Those that Kubernetes calls safe, those that docker and podman write themselves, and limits of the container's own shared
 * memory and queues.  Each belongs to a namespace, and a value can harm only the container.
 */
static const char *const listed[] = {
	"kernel.msgmax",
	"kernel.msgmnb",
	"kernel.msgmni",
	"kernel.sem",
	"kernel.shm_rmid_forced",
	"kernel.shmall",
	"kernel.shmmax",
	"kernel.shmmni",
	"net.ipv4.ip_local_port_range",
	"net.ipv4.ip_local_reserved_ports",
	"net.ipv4.ip_unprivileged_port_start",
	"net.ipv4.ping_group_range",
	"net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_keepalive_intvl",
	"net.ipv4.tcp_keepalive_probes",
	"net.ipv4.tcp_keepalive_time",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_syncookies",
	"net.ipv4.tcp_wmem",
};

/* clang-format off */
static const struct {
	const char *prefix;
	enum engine_namespace n;
} namespaced[] = {
	{ "net.",           ENGINE_NS_NETWORK },
	{ "fs.mqueue.",     ENGINE_NS_IPC },
	{ "kernel.msg",     ENGINE_NS_IPC },
	{ "kernel.sem",     ENGINE_NS_IPC },
	{ "kernel.shm",     ENGINE_NS_IPC },
	{ "kernel.domainname", ENGINE_NS_UTS },
	{ "kernel.hostname",   ENGINE_NS_UTS },
};
/* clang-format on */

bool engine_sysctl_is_listed(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(listed); i++)
		if (strcmp(name, listed[i]) == 0)
			return true;
	return str_starts(name, "fs.mqueue.");
}

int engine_sysctl_namespace(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(namespaced); i++)
		if (str_starts(name, namespaced[i].prefix))
			return (int)namespaced[i].n;
	return -1;
}

static int require(struct engine_work *w, const char *name)
{
	int n = engine_sysctl_namespace(name);

	if (strchr(name, '/'))
		return fault_set(w->f, EPERM,
				 "config.json: 'linux.sysctl.%.128s' is refused: write it with dots", name);
	if (n < 0)
		return fault_set(
			w->f, EPERM,
			"config.json: 'linux.sysctl.%.128s' is refused: it belongs to the whole host", name);
	if (engine_namespace_state(w->config, (enum engine_namespace)n) == ENGINE_NS_HOST)
		return fault_set(w->f, EPERM,
				 "config.json: 'linux.sysctl.%.128s' is refused: the container has the "
				 "host's %s namespace",
				 name, engine_namespace_name((enum engine_namespace)n));
	if (engine_sysctl_is_listed(name) || strv_has(w->in->profile->container_sysctls, name))
		return 0;
	return fault_set(w->f, EPERM,
			 "config.json: 'linux.sysctl.%.128s' is refused: not in the list; to allow it, add "
			 "it to 'container.sysctls' of "
			 "profile '%s'",
			 name, w->in->profile->name);
}

int engine_merge_sysctls(struct engine_work *w)
{
	const struct jdoc *sysctls = engine_at(w->config, "linux.sysctl");
	int r = 0;

	for (size_t i = 0; engine_is(sysctls, JDOC_OBJECT) && r == 0 && i < sysctls->n_members; i++)
		r = require(w, sysctls->members[i].key);
	return r;
}
