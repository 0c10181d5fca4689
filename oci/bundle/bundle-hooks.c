/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "oci/bundle/hook-args.h"
#include "oci/bundle/bundle-impl.h"

/*
 * Mounts that another runtime cannot do: overlays (the bundle would need a new upper at each start) and idmapped clones.
 * The plan is one argument of the hook, so that config.json describes everything.
 *
 * crun runs createRuntime before its own mounts, runc after them.  So a hooked mount must never be below a mount of the
 * runtime, nor a mount of the runtime below a hooked one.
 */
#define HOOK_TIMEOUT_S 30

/* Also a worktree that a runtime could mount: the hook keeps a descriptor of it for the evidence before the payload runs. */
bool bundle_is_worktree_hooked(const struct placement *p)
{
	return p->portable;
}

/* An idmapped clone, an overlay of one, or the tmpfs that the worktree is mounted in: /tmp of a tree below /tmp. */
static bool needs_hook(const struct subject *s, const struct subject_mount *m)
{
	return m->idmap || subject_mount_is_tree(s, m) ||
	       (m->kind == SUBJECT_MOUNT_TMPFS && path_is_below(subject_work_target(s), m->target));
}

bool bundle_is_hooked(const struct subject *s, const struct placement *p, size_t i)
{
	const char *target = s->mounts[i].target;

	if (!p->portable)
		return false;
	if (needs_hook(s, &s->mounts[i]))
		return true;
	if (bundle_is_worktree_hooked(p) && path_is_below(target, subject_work_target(s)))
		return true;
	/* Mounts are sorted: parents come first. */
	for (size_t k = 0; k < i; k++)
		if (needs_hook(s, &s->mounts[k]) && path_is_below(target, s->mounts[k].target))
			return true;
	return false;
}

static int require_reachable(const struct subject *s, const struct placement *p, const char *target,
			     struct fault *f)
{
	for (size_t i = 0; i < s->n_mounts; i++)
		if (!bundle_is_hooked(s, p, i) && strcmp(s->mounts[i].target, target) != 0 &&
		    path_is_below(target, s->mounts[i].target))
			return fault_set(f, ENOTSUP,
					 "'%s' lies below the mount '%s', which a bundle does not support: "
					 "choose another target",
					 target, s->mounts[i].target);
	return 0;
}

static void add_owner(struct jdoc *m, uid_t uid, gid_t gid)
{
	jdoc_set_int(m, "uid", uid);
	jdoc_set_int(m, "gid", gid);
}

/* A writable source may be replaced after the verdict: the hook compares the clone with this identity. */
static void add_file(struct jdoc *m, const struct subject_file *file)
{
	char text[48];

	(void)snprintf(text, sizeof(text), "%" PRIu64 ":%" PRIu64, file->device, file->inode);
	jdoc_set_string(m, "file", text);
}

static void plan_empty_worktree(struct jdoc *mounts, const struct subject *s)
{
	struct jdoc *m = jdoc_append_object(mounts);

	jdoc_set_string(m, "kind", "tmpfs");
	jdoc_set_string(m, "target", subject_work_target(s));
	jdoc_set_bool(m, "rw", true);
	jdoc_set_bool(m, "dir", true);
	jdoc_set_int(m, "size", (int64_t)bundle_work_size(s));
	jdoc_set_int(m, "mode", 0755);
}

static void plan_worktree(struct jdoc *mounts, const struct subject *s)
{
	bool overlay = s->profile->workspace == PROFILE_WORKSPACE_OVERLAY;
	bool sealed = s->profile->workspace != PROFILE_WORKSPACE_RW && operand_needs_lower(s);
	struct jdoc *m;

	if (s->profile->workspace == PROFILE_WORKSPACE_TMPFS) {
		plan_empty_worktree(mounts, s);
		return;
	}
	m = jdoc_append_object(mounts);
	jdoc_set_string(m, "kind",
			overlay						? "overlay"
			: sealed					? "sealed"
			: s->profile->workspace == PROFILE_WORKSPACE_RO ? "tree"
									: "bind");
	if (overlay && sealed)
		jdoc_set_bool(m, "sealed", true);
	jdoc_set_string(m, "source", s->worktree);
	jdoc_set_string(m, "target", subject_work_target(s));
	jdoc_set_bool(m, "rw", s->profile->workspace == PROFILE_WORKSPACE_RW);
	jdoc_set_bool(m, "dir", true);
	jdoc_set_bool(m, "idmap", true);
	add_owner(m, s->owner_uid, s->owner_gid);
	if (s->profile->workspace == PROFILE_WORKSPACE_RW)
		add_file(m, &s->worktree_file);
	if (overlay)
		jdoc_set_int(m, "size", (int64_t)s->profile->limit_disk);
}

/* The tree is writable: the sealed operands get a separate read-only mount. */
static void plan_sealed(struct jdoc *mounts, const struct subject *s)
{
	struct jdoc *m = jdoc_append_object(mounts);

	jdoc_set_string(m, "kind", "sealed");
	jdoc_set_string(m, "source", s->worktree);
	jdoc_set_string(m, "target", OPERAND_DIR);
	jdoc_set_bool(m, "dir", true);
	jdoc_set_bool(m, "idmap", true);
	add_owner(m, s->owner_uid, s->owner_gid);
}

static void plan_mount(struct jdoc *mounts, const struct subject *s, const struct subject_mount *sm)
{
	bool bind = sm->kind == SUBJECT_MOUNT_BIND;
	struct jdoc *m = jdoc_append_object(mounts);

	jdoc_set_string(m, "kind", !bind ? "tmpfs" : subject_mount_is_tree(s, sm) ? "tree" : "bind");
	jdoc_set_string(m, "target", sm->target);
	jdoc_set_bool(m, "rw", sm->rw);
	jdoc_set_bool(m, "dir", sm->is_dir);
	if (bind) {
		jdoc_set_string(m, "source", sm->source);
		jdoc_set_bool(m, "idmap", sm->idmap);
		add_owner(m, sm->owner_uid, sm->owner_gid);
		if (sm->rw)
			add_file(m, &sm->file);
	} else {
		jdoc_set_int(m, "size", (int64_t)sm->size);
		jdoc_set_int(m, "mode", sm->mode);
	}
}

/* At createContainer crun has hidden these paths already, and the mounts above would show them again. */
static void plan_hidden(struct jdoc *mounts, const struct subject *s)
{
	for (char **hide = s->profile->fs_hide; hide && *hide; hide++) {
		struct jdoc *m = jdoc_append_object(mounts);

		jdoc_set_string(m, "kind", "hide");
		jdoc_set_string(m, "target", *hide);
	}
}

static int plan_mounts(struct jdoc *plan, const struct subject *s, const struct placement *p, size_t *ret_n,
		       struct fault *f)
{
	struct jdoc *mounts = jdoc_set_array(plan, "mounts");
	int r = 0;

	for (size_t i = 0; r >= 0 && i <= s->n_mounts; i++) {
		if (i == s->worktree_at && bundle_is_worktree_hooked(p)) {
			plan_worktree(mounts, s);
			r = require_reachable(s, p, subject_work_target(s), f);
		}
		if (r < 0 || i == s->n_mounts || !bundle_is_hooked(s, p, i))
			continue;
		plan_mount(mounts, s, &s->mounts[i]);
		r = require_reachable(s, p, s->mounts[i].target, f);
	}
	if (r >= 0 && s->profile->workspace == PROFILE_WORKSPACE_RW && operand_needs_lower(s))
		plan_sealed(mounts, s);
	*ret_n = mounts ? mounts->n_items : 0;
	if (p->rootless && *ret_n)
		plan_hidden(mounts, s);
	return r;
}

static struct jdoc *build_plan(const struct subject *s, const struct placement *p)
{
	struct jdoc *plan = jdoc_new_object();

	if (!plan)
		return NULL;
	jdoc_set_int(plan, "version", 1);
	jdoc_set_bool(plan, "rootless", p->rootless);
	jdoc_set_bool(plan, "userns", bundle_asks(s, LAYER_USER_NS));
	jdoc_set_int(plan, "uid_base", p->uid_base);
	jdoc_set_int(plan, "gid_base", p->gid_base);
	add_owner(plan, s->uid, s->gid);
	jdoc_set_int(plan, "n_ids", p->n_ids);
	/* Only with approval a warden exists that can take the descriptor. */
	if (p->approve) {
		jdoc_set_string(plan, "run", p->run);
		jdoc_set_string(plan, "work", subject_work_target(s));
		jdoc_set_bool(plan, "gate", bundle_has_gate(s, p));
	}
	return plan;
}

static struct jdoc *add_hook(struct jdoc *hooks, const char *stage, const struct placement *p,
			     const char *verb)
{
	struct jdoc *list = jdoc_get(hooks, stage), *hook, *args;

	if (!list)
		list = jdoc_set_array(hooks, stage);
	hook = jdoc_append_object(list);
	jdoc_set_string(hook, "path", p->hook);
	args = jdoc_set_array(hook, "args");
	jdoc_append_string(args, "custody-hook");
	jdoc_append_string(args, verb);
	/* Without `env` a hook inherits the whole environment of the runtime. */
	jdoc_append_string(jdoc_set_array(hook, "env"), "LC_ALL=C");
	jdoc_set_int(hook, "timeout", HOOK_TIMEOUT_S);
	return args;
}

/* First: a denied bundle is not mounted either. */
static void add_approve(struct jdoc *hooks, const struct placement *p)
{
	struct jdoc *args = add_hook(hooks, "createRuntime", p, "approve");

	for (char *const *arg = p->approve; *arg; arg++)
		jdoc_append_string(args, *arg);
}

/* After every exit of the container. */
static int add_audit(struct jdoc *hooks, const struct placement *p, struct fault *f)
{
	_cleanup_free_ char **words = hook_args_for_audit(p->approve);
	struct jdoc *args;

	if (!words)
		return fault_errno(f, ENOMEM, "config.json");
	args = add_hook(hooks, "poststop", p, "audit");
	for (char **word = words; *word; word++)
		jdoc_append_string(args, *word);
	return 0;
}

int bundle_add_hooks(struct jdoc *config, const struct subject *s, const struct placement *p, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *plan = build_plan(s, p);
	_cleanup_strbuf_ struct strbuf text = { 0 };
	struct jdoc *hooks;
	size_t n = 0;
	int r;

	if (!plan)
		return fault_errno(f, ENOMEM, "config.json");
	r = plan_mounts(plan, s, p, &n, f);
	if (r < 0 || (n == 0 && !p->approve))
		return r;
	if (!p->hook || (p->approve && !p->run))
		return fault_set(f, EINVAL, "placement without the path of custody-hook or of the sessions");
	r = jdoc_write(plan, JDOC_CANONICAL, &text, f);
	if (r < 0)
		return r;
	hooks = jdoc_set_object(config, "hooks");
	if (p->approve)
		add_approve(hooks, p);
	if (n > 0)
		jdoc_append_string(
			add_hook(hooks, p->rootless ? "createContainer" : "createRuntime", p, "mount"),
			text.text);
	return p->approve ? add_audit(hooks, p, f) : 0;
}
