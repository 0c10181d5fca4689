/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "oci/engine/engine-hook.h"
#include "oci/engine/engine-mount.h"
#include "oci/engine/engine-namespace.h"

/* Writes into the root file system change no file outside only if it is an overlay of the container's own. */
static bool root_is_kept_apart(const struct engine_work *w, bool overlay)
{
	const struct jdoc *readonly = engine_at(w->config, "root.readonly");

	return overlay || (engine_is(readonly, JDOC_BOOL) && readonly->boolean);
}

static void add_rw(struct engine_container *c, const char *target, const char *source)
{
	c->rw[c->facts.n_rw++] = (struct policy_mount){ target, source };
}

#define RW_OTHERS 4 /* entries of add_others */

/* Ways to the host that are no mounts: each may write whatever the caller of the runtime may. */
static void add_others(struct engine_work *w, bool overlay)
{
	if (!root_is_kept_apart(w, overlay))
		add_rw(w->c, "/", w->c->rootfs);
	if (engine_hook_has_foreign(w->config))
		add_rw(w->c, "(hook)", "/");
	if (w->in->preserved > 0)
		add_rw(w->c, "(descriptor)", "/");
	/* A node of the image opens any device. */
	if (w->in->no_cgroup && !engine_caller_is_mapped() && !engine_has_user_namespace(w->config))
		add_rw(w->c, "(device)", "/dev");
}

static int add_writable(struct engine_work *w, bool overlay)
{
	struct engine_container *c = w->c;
	size_t n = engine_count(w->config, "mounts");

	c->rw = calloc(n + RW_OTHERS, sizeof(*c->rw));
	c->rootfs = strdup(w->in->rootfs);
	if (!c->rw || !c->rootfs)
		return fault_errno(w->f, ENOMEM, "facts");
	for (size_t i = 0; i < n; i++) {
		const struct jdoc *mount = engine_item(w->config, "mounts", i);

		if (engine_mount_is_writable_bind(mount, &w->names))
			add_rw(c, engine_text(mount, "destination"), engine_text(mount, "source"));
	}
	add_others(w, overlay);
	c->facts.rw = c->rw;
	return 0;
}

static enum policy_worktree worktree_mode(const struct engine_work *w, bool overlay)
{
	const struct jdoc *mount = engine_mount_of(w->config, w->c->worktree);

	if (!mount)
		return root_is_kept_apart(w, overlay) ? POLICY_WORKTREE_EPHEMERAL : POLICY_WORKTREE_RW;
	return engine_mount_is_writable_bind(mount, &w->names) ? POLICY_WORKTREE_RW
							       : POLICY_WORKTREE_EPHEMERAL;
}

static bool worktree_is_made(const struct engine_work *w)
{
	const struct jdoc *mount = engine_mount_of(w->config, w->c->worktree);

	return mount && engine_mount_kind(mount, &w->names) == ENGINE_MOUNT_ENGINE;
}

static bool shows_home(const struct engine_work *w)
{
	for (size_t i = 0; w->in->home && i < engine_count(w->config, "mounts"); i++) {
		const struct jdoc *mount = engine_item(w->config, "mounts", i);
		const char *source = engine_text(mount, "source");
		_cleanup_free_ char *plain = NULL;

		if (engine_mount_kind(mount, &w->names) == ENGINE_MOUNT_BIND && source &&
		    (path_normalize(source, &plain, NULL) < 0 || path_is_below(w->in->home, plain)))
			return true;
	}
	return false;
}

static int copy_env(struct engine_work *w)
{
	size_t n = engine_count(w->config, "process.env"), k = 0;

	w->c->env = calloc(n + 1, sizeof(*w->c->env));
	if (!w->c->env)
		return fault_errno(w->f, ENOMEM, "facts");
	for (size_t i = 0; i < n; i++) {
		const struct jdoc *v = engine_item(w->config, "process.env", i);

		if (!engine_is(v, JDOC_STRING) || !strchr(v->string, '='))
			continue;
		w->c->env[k] = strdup(v->string);
		if (!w->c->env[k++])
			return fault_errno(w->f, ENOMEM, "facts");
	}
	w->c->facts.env = w->c->env;
	return 0;
}

static const char *find_home(const struct engine_container *c)
{
	for (char **e = c->env; e && *e; e++)
		if (str_starts(*e, "HOME="))
			return *e + strlen("HOME=");
	return "/root";
}

/* Processes of other containers are within reach of its signals, or of its shared memory. */
static bool joins_processes(const struct jdoc *config)
{
	return engine_namespace_state(config, ENGINE_NS_PID) != ENGINE_NS_OWN ||
	       engine_namespace_state(config, ENGINE_NS_IPC) != ENGINE_NS_OWN;
}

static enum policy_network network_of(const struct engine_work *w)
{
	return engine_has_no_network(w->config, &w->names) && !joins_processes(w->config)
		       ? POLICY_NETWORK_NONE
		       : POLICY_NETWORK_HOST;
}

int engine_facts_fill(struct engine_work *w, bool overlay)
{
	struct engine_container *c = w->c;
	int r;

	c->facts = (struct policy_facts){
		.argv = c->argv,
		.cwd = engine_text(w->config, "process.cwd"),
		.worktree = c->worktree,
		.home_is_apart = !shows_home(w),
		.isolated = w->in->isolate,
		.worktree_mode = worktree_mode(w, overlay),
		.network = network_of(w),
		.broker_tool = c->broker.open,
		.profile_name = w->in->profile->name,
		/* Words mean what the programs of the image make of them. */
		.replaced = "image",
	};
	c->worktree_made = worktree_is_made(w);
	r = copy_env(w);
	if (r == 0)
		r = add_writable(w, overlay);
	if (r < 0)
		return r;
	c->facts.home = find_home(c);
	return 0;
}
