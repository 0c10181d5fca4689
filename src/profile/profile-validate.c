/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile-impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "layer/layer.h"

/* Layers that some hosts cannot provide to some callers; every other layer is required for a sandbox. */
#define MAY_BE_OPTIONAL                                                                             \
	(LAYER_BIT(LAYER_MEMORY_LIMIT) | LAYER_BIT(LAYER_PIDS_LIMIT) | LAYER_BIT(LAYER_CPU_LIMIT) | \
	 LAYER_BIT(LAYER_DISK_LIMIT) | LAYER_BIT(LAYER_TIME_LIMIT) | LAYER_BIT(LAYER_CGROUP_NS))

/* Mount points that custody uses itself. */
static const char *const own_trees[] = { "/proc", "/sys", "/dev", "/run/custody", NULL };

static int require_target(const struct profile *p, const char *key, const char *target, char ***seen,
			  struct fault *f)
{
	if (strcmp(target, "/") == 0)
		return fault_set(f, EINVAL, "profile '%s': '%s': the target must not be '/': use 'root'",
				 p->name, key);
	if (strcmp(target, "/tmp") == 0)
		return fault_set(f, EINVAL,
				 "profile '%s': '%s': /tmp is always private and writable; set its size with "
				 "'limits.tmp'",
				 p->name, key);
	for (size_t i = 0; own_trees[i]; i++)
		if (path_is_below(target, own_trees[i]))
			return fault_set(
				f, EINVAL,
				"profile '%s': '%s': the target '%s' is in %s, which custody uses itself",
				p->name, key, target, own_trees[i]);
	if (strv_has(*seen, target))
		return fault_set(f, EINVAL,
				 "profile '%s': '%s': two entries have the target '%s'; remove one", p->name,
				 key, target);
	return strv_append(seen, target) < 0 ? fault_errno(f, ENOMEM, "profile") : 0;
}

static int require_binds(const struct profile *p, const char *key, char *const *binds, char ***seen,
			 struct fault *f)
{
	int r = 0;

	for (size_t i = 0; binds && binds[i] && r == 0; i++) {
		const char *colon = strchr(binds[i], ':');

		r = require_target(p, key, colon ? colon + 1 : binds[i], seen, f);
	}
	return r;
}

/* Two mounts on one target would make the result depend on their order. */
static int require_targets(const struct profile *p, struct fault *f)
{
	_cleanup_strv_ char **seen = NULL;
	int r = 0;

	if (p->workspace_target)
		r = require_target(p, "workspace.target", p->workspace_target, &seen, f);
	if (r == 0)
		r = require_binds(p, "filesystem.ro", p->fs_ro, &seen, f);
	if (r == 0)
		r = require_binds(p, "filesystem.rw", p->fs_rw, &seen, f);
	for (size_t i = 0; i < p->n_fs_tmpfs && r == 0; i++)
		r = require_target(p, "filesystem.tmpfs", p->fs_tmpfs[i].path, &seen, f);
	return r;
}

static int require_root(const struct profile *p, struct fault *f)
{
	if (p->root == PROFILE_ROOT_DIR && !p->root_path)
		return fault_set(
			f, EINVAL,
			"profile '%s': 'root.type' is dir, but 'root.path' is missing: add the directory",
			p->name);
	if (p->root != PROFILE_ROOT_DIR && p->root_path)
		return fault_set(f, EINVAL,
				 "profile '%s': 'root.path' is only for 'root.type' dir: set the type or "
				 "remove the path",
				 p->name);
	return 0;
}

static int require_overlay(const struct profile *p, struct fault *f)
{
	if (p->workspace_overlay == PROFILE_OVERLAY_KERNEL)
		return 0;
	if (p->workspace != PROFILE_WORKSPACE_OVERLAY)
		return fault_set(f, EINVAL,
				 "profile '%s': 'workspace.overlay' is fuse, but 'workspace.mode' is %s, "
				 "which uses no overlay: remove one of the two",
				 p->name, profile_workspace_name(p->workspace));
	/* Its process would run as the host's root. */
	if (!(p->layers & LAYER_BIT(LAYER_USER_NS)))
		return fault_set(f, EINVAL,
				 "profile '%s': 'workspace.overlay' is fuse, which needs the user namespace: "
				 "remove \"no-user-namespace\" from 'dangerous', or use the kernel's overlay",
				 p->name);
	return 0;
}

static int require_network(const struct profile *p, struct fault *f)
{
	if (p->network == PROFILE_NETWORK_HOST && p->n_network_hosts > 0)
		return fault_set(
			f, EINVAL,
			"profile '%s': the host's network reaches every host, so 'network.hosts' has no "
			"effect: set 'network.mode' to allow, or remove the list",
			p->name);
	if (p->network != PROFILE_NETWORK_ALLOW)
		return 0;
	if (p->n_network_hosts == 0)
		return fault_set(
			f, EINVAL,
			"profile '%s': 'network.mode' is allow, but 'network.hosts' lists no host: add "
			"one, or set the mode to none",
			p->name);
	/* The first process of the namespace could change its routes. */
	if (!(p->layers & LAYER_BIT(LAYER_USER_NS)) || !(p->layers & LAYER_BIT(LAYER_CAPABILITIES)))
		return fault_set(f, EINVAL,
				 "profile '%s': 'network.mode' allow needs the layers user-namespace and "
				 "capabilities: remove \"no-user-namespace\" and \"no-capabilities\" from "
				 "'dangerous'",
				 p->name);
	return 0;
}

static int require_optional(const struct profile *p, struct fault *f)
{
	for (int i = 0; i < _LAYER_MAX; i++) {
		const char *name = layer_info((enum layer)i)->name;

		if (p->optional & LAYER_BIT(i) & ~MAY_BE_OPTIONAL)
			return fault_set(
				f, EINVAL,
				"profile '%s': 'enforce.optional': '%s' cannot be optional, only limits and "
				"cgroup-namespace can; to run without it, add \"no-%s\" to 'dangerous'",
				p->name, name, name);
	}
	return 0;
}

int profile_require_sound(const struct profile *p, const struct profile_vars *vars, struct fault *f)
{
	int r;

	r = require_root(p, f);
	if (r == 0)
		r = require_targets(p, f);
	if (r == 0)
		r = require_optional(p, f);
	if (r == 0)
		r = require_overlay(p, f);
	if (r == 0)
		r = require_network(p, f);
	if (r == 0)
		r = profile_require_no_danger(p, vars, f);
	return r;
}

/* The first section of P that is not in SUPPORTED, with its name and its first key. */
static const struct jdoc *find_section(const struct profile *p, uint32_t supported, const char **ret_name)
{
	for (const struct key_row *k = profile_keys(); k->path; k++) {
		const struct jdoc *section;
		bool is_carried = false;

		if (k->kind != KEY_KIND_SECTION || k->offset == KEY_NO_FIELD)
			continue;
		section = *(struct jdoc *const *)((const char *)p + k->offset);
		for (unsigned int i = 0; i < _PROFILE_SECTION_MAX; i++)
			is_carried = is_carried || (section == p->sections[i] && supported & 1u << i);
		if (!section || is_carried)
			continue;
		*ret_name = k->path;
		return section;
	}
	return NULL;
}

/*
 * -ENOTSUP for the first section that neither `custody run` nor the arguments of `custody-hook approve`
 * support.  WHY begins with a verb.
 */
static int require_sections(const struct profile *p, uint32_t also, const char *why, struct fault *f)
{
	const uint32_t supported = 1u << PROFILE_SECTION_GOVERNANCE | 1u << PROFILE_SECTION_AUDIT |
				   1u << PROFILE_SECTION_FORENSICS | also;
	const char *name;
	const struct jdoc *section = find_section(p, supported, &name);

	if (!section)
		return 0;
	return key_fault_at(
		f, section,
		fault_set(f, ENOTSUP,
			  "profile '%s': section '%s' (key '%s.%s') %s: remove the section, or choose a "
			  "profile without it (custody profile ls)",
			  p->name, name, name, section->members[0].key, why));
}

int profile_require_supported(const struct profile *p, struct fault *f)
{
	return require_sections(p, 1u << PROFILE_SECTION_BROKER, "is not implemented in this version", f);
}

int profile_require_portable(const struct profile *p, struct fault *f)
{
	if (p->workspace_sandbox)
		return fault_set(f, ENOTSUP,
				 "profile '%s': 'workspace.sandbox' is not supported in a bundle, because "
				 "only 'custody "
				 "run' locks the sandbox root while it is used: choose a profile without it",
				 p->name);
	if (p->process_home && strcmp(p->process_home, "memory") != 0)
		return fault_set(f, ENOTSUP,
				 "profile '%s': 'process.home' %s is not supported in a bundle, because only "
				 "'custody run' locks the home while it is used: set it to memory",
				 p->name, p->process_home);
	if (p->network == PROFILE_NETWORK_ALLOW)
		return fault_set(
			f, ENOTSUP,
			"profile '%s': 'network.mode' allow is not supported in a bundle, because only "
			"'custody run' starts custody-egress, which decides about each connection: set it "
			"to none",
			p->name);
	if (profile_is_fuse(p))
		return fault_set(
			f, ENOTSUP,
			"profile '%s': 'workspace.overlay' fuse is not supported in a bundle, because only "
			"'custody run' starts and stops fuse-overlayfs: choose a profile with the kernel's "
			"overlay",
			p->name);
	return require_sections(p, 0, "is not supported by the hooks of a bundle", f);
}

int profile_require_lane(const struct profile *p, enum lane lane, struct fault *f)
{
	enum network_class class = p->network_class;
	_cleanup_free_ char *what = NULL;

	if (class == NETWORK_CLASS_ANY && p->network != PROFILE_NETWORK_NONE)
		class = NETWORK_CLASS_TEST;
	if (asprintf(&what, "profile '%s' (network.class)", p->name) < 0) {
		what = NULL;
		return fault_errno(f, ENOMEM, "profile");
	}
	return lane_require_class(lane, class, what, f);
}
