/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/container-compare.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

bool container_wrong(char why[CONTAINER_WHY_SIZE], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, CONTAINER_WHY_SIZE, fmt, ap);
	va_end(ap);
	return false;
}

bool container_unread(char why[CONTAINER_WHY_SIZE], const char *name, int err)
{
	return container_wrong(why, "/proc/PID/%s cannot be read: %s", name, strerror(err));
}

static bool is_own(const struct container_compare *c, enum init_ns n, const char *name, char *why)
{
	if (c->facts->ns_err || !c->facts->ns[n])
		return container_unread(why, "ns", c->facts->ns_err);
	if (c->facts->ns[n] == c->outside->ns[n])
		return container_wrong(why, "it is the host's, %s:[%" PRIu64 "]", name, c->facts->ns[n]);
	return true;
}

static bool check_pid(const struct container_compare *c, char *why)
{
	return is_own(c, INIT_NS_PID, "pid", why);
}

static bool check_net(const struct container_compare *c, char *why)
{
	return is_own(c, INIT_NS_NET, "net", why);
}

static bool check_ipc(const struct container_compare *c, char *why)
{
	return is_own(c, INIT_NS_IPC, "ipc", why);
}

static bool check_uts(const struct container_compare *c, char *why)
{
	return is_own(c, INIT_NS_UTS, "uts", why);
}

static bool check_cgroup(const struct container_compare *c, char *why)
{
	return is_own(c, INIT_NS_CGROUP, "cgroup", why);
}

static bool has_outside(const struct container_map *m, uint64_t id)
{
	for (size_t i = 0; i < m->n; i++)
		if (id >= m->at[i].outside && id - m->at[i].outside < m->at[i].count)
			return true;
	return false;
}

/*
 * The host's root has no number inside.  We are root ourselves, or in a user namespace of an engine: where the host's root has no
 * number for us it has none in that namespace and below, and the map of our own would be shown as seen from its parent.
 */
static bool check_user(const struct container_compare *c, char *why)
{
	const struct container_facts *x = c->facts;
	const struct container_outside *o = c->outside;
	const bool enclosed = o->host_uid == o->no_uid && o->host_gid == o->no_gid;

	if (x->ns_err || !x->ns[INIT_NS_USER])
		return container_unread(why, "ns", x->ns_err);
	if (x->ns[INIT_NS_USER] == o->ns[INIT_NS_USER] && (!enclosed || c->asked->user_namespace))
		return container_wrong(why, "it is the host's, user:[%" PRIu64 "]", x->ns[INIT_NS_USER]);
	if (enclosed)
		return true;
	if (x->map_err || x->uids.n == 0 || x->gids.n == 0)
		return container_unread(why, "uid_map", x->map_err);
	if (has_outside(&x->uids, o->host_uid) || has_outside(&x->gids, o->host_gid))
		return container_wrong(why, "root of the host has a number inside");
	return true;
}

/* Names of the bits of SET: libcap is not needed to compare. */
static bool check_capabilities(const struct container_compare *c, char *why)
{
	const struct container_status *s = &c->facts->status;

	if (s->err)
		return container_unread(why, "status", s->err);
	for (unsigned int i = 0; i < _CONTAINER_SET_MAX; i++) {
		uint64_t more = s->capabilities[i] & ~c->asked->capabilities[i];

		if (more)
			return container_wrong(
				why, "the %s set has %016" PRIx64 ", more than asked: %016" PRIx64,
				container_set_name((enum container_set)i), s->capabilities[i], more);
	}
	return true;
}

static bool check_no_new_privs(const struct container_compare *c, char *why)
{
	if (c->facts->status.err)
		return container_unread(why, "status", c->facts->status.err);
	return c->facts->status.no_new_privs == 1 || container_wrong(why, "NoNewPrivs is 0");
}

static bool check_seccomp(const struct container_compare *c, char *why)
{
	if (c->facts->status.err)
		return container_unread(why, "status", c->facts->status.err);
	return c->facts->status.seccomp == 2 ||
	       container_wrong(why, "Seccomp is %" PRIu64 ", not 2", c->facts->status.seccomp);
}

static bool has_mount(const struct container_facts *x, uint64_t id)
{
	for (size_t i = 0; i < x->n_mounts; i++)
		if (x->mounts[i].id == id)
			return true;
	return false;
}

/* A terminal of the container's own devpts is on a mount of the container. */
static bool check_session(const struct container_compare *c, char *why)
{
	const struct container_facts *x = c->facts;
	bool own = false;

	if (x->stat_err || x->fds_err || x->mounts_err)
		return container_unread(why,
					x->stat_err  ? "stat"
					: x->fds_err ? "fd"
						     : "mountinfo",
					x->stat_err  ? x->stat_err
					: x->fds_err ? x->fds_err
						     : x->mounts_err);
	if (x->sid != x->pid)
		return container_wrong(why, "it is in session %d of another process", (int)x->sid);
	for (size_t i = 0; i < x->n_fds; i++) {
		if (!x->fds[i].terminal)
			continue;
		if (!has_mount(x, x->fds[i].mount))
			return container_wrong(why, "descriptor %u is a terminal of the host, '%s'",
					       x->fds[i].number, x->fds[i].target);
		own = true;
	}
	if (x->terminal != 0 && !own)
		return container_wrong(why, "it has a controlling terminal that is not of the container");
	return true;
}

/*
 * What the runtime still uses is closed at exec; until then no code of the container runs.  A directory is an exit from the root even
 * so, if the working directory or the program's path is resolved through it.
 */
static bool check_descriptors(const struct container_compare *c, char *why)
{
	const struct container_facts *x = c->facts;

	if (x->fds_err)
		return container_unread(why, "fd", x->fds_err);
	for (size_t i = 0; i < x->n_fds; i++) {
		const struct container_descriptor *d = &x->fds[i];
		const bool expected = d->number <= 2 || d->number - 2 <= c->asked->preserved;

		if (d->directory && !(expected && d->number > 2))
			return container_wrong(why, "descriptor %u is a directory, '%s'", d->number,
					       d->target);
		if (!expected && !d->closed_at_exec)
			return container_wrong(why, "descriptor %u is inherited: '%s'", d->number, d->target);
	}
	return true;
}

static bool check_limit(const struct container_limits *l, const char *name, uint64_t found, uint64_t asked,
			char *why)
{
	if (l->err)
		return container_unread(why, "cgroup", l->err);
	if (!l->foreign)
		return container_wrong(why, "it is in the cgroup of its supervisor");
	if (found == UINT64_MAX)
		return container_wrong(why, "its cgroup has no limit of %s", name);
	if (asked && found > asked)
		return container_wrong(why, "its cgroup allows %s %" PRIu64 ", asked was %" PRIu64, name,
				       found, asked);
	return true;
}

static bool check_memory(const struct container_compare *c, char *why)
{
	return check_limit(&c->facts->limits, "memory", c->facts->limits.memory, c->asked->memory, why);
}

static bool check_pids(const struct container_compare *c, char *why)
{
	return check_limit(&c->facts->limits, "pids", c->facts->limits.pids, c->asked->pids, why);
}

static bool check_cpu(const struct container_compare *c, char *why)
{
	const struct container_asked *a = c->asked;

	return check_limit(&c->facts->limits, "cpu", c->facts->limits.cpu,
			   a->cpu_quota && a->cpu_period ? a->cpu_quota * 100000 / a->cpu_period : 0, why);
}

static bool check_mount_ns(const struct container_compare *c, char *why)
{
	return is_own(c, INIT_NS_MNT, "mnt", why) && container_compare_mounts(c, why);
}

typedef bool check_fn(const struct container_compare *c, char *why);

/* Not here: the environment, which the process may overwrite, and limits that the caller watches itself. */
static check_fn *const checks[_LAYER_MAX] = {
	[LAYER_USER_NS] = check_user,
	[LAYER_PID_NS] = check_pid,
	[LAYER_MOUNT_NS] = check_mount_ns,
	[LAYER_NET_NS] = check_net,
	[LAYER_IPC_NS] = check_ipc,
	[LAYER_UTS_NS] = check_uts,
	[LAYER_CGROUP_NS] = check_cgroup,
	[LAYER_ROOT] = container_compare_root,
	[LAYER_MASKS] = container_compare_masks,
	[LAYER_DEVICES] = container_compare_devices,
	[LAYER_WORKTREE] = container_compare_worktree,
	[LAYER_CAPABILITIES] = check_capabilities,
	[LAYER_NO_NEW_PRIVS] = check_no_new_privs,
	[LAYER_SECCOMP] = check_seccomp,
	[LAYER_SESSION] = check_session,
	[LAYER_DESCRIPTORS] = check_descriptors,
	[LAYER_CWD] = container_compare_cwd,
	[LAYER_PROCESS] = container_compare_process,
	[LAYER_MEMORY_LIMIT] = check_memory,
	[LAYER_PIDS_LIMIT] = check_pids,
	[LAYER_CPU_LIMIT] = check_cpu,
};

uint32_t container_provable(void)
{
	uint32_t bits = 0;

	for (unsigned int l = 0; l < _LAYER_MAX; l++)
		if (checks[l])
			bits |= LAYER_BIT(l);
	return bits;
}

uint32_t container_provable_after(void)
{
	return LAYER_BIT(LAYER_SECCOMP);
}

struct container_layer container_compare_layer(const struct container_compare *c, enum layer l)
{
	struct container_layer r = { 0 };

	if (!checks[l])
		(void)container_wrong(r.why, "it cannot be proven from outside of the container");
	else
		r.holds = checks[l](c, r.why);
	return r;
}
