/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "profile/profile-impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "layer/layer.h"
#include "state/project.h"

enum {
	RW_ROOT,
	RW_HOME,
	ENGINE_SOCKET,
	HOST_ROOT,
	HOST_NETWORK,
	ANY_HOST,
};

/* clang-format off */
static const struct profile_danger dangers[] = {
	[RW_ROOT] = { "rw-root", "the host's system can be changed, and every program that runs on it later" },
	[RW_HOME] = { "rw-home", "files that your own programs read and execute (shell start-up, keys, custody's settings) can be changed" },
	[ENGINE_SOCKET] = { "engine-socket", "access to a container engine or service manager allows starting any process outside; a read-only mount does not prevent it" },
	[HOST_ROOT] = { "host-root", "root inside is root of the host" },
	[HOST_NETWORK] = { "host-network", "every network that the host can reach can be reached" },
	[ANY_HOST] = { "any-host", "data can be sent to every host on the internet, or to all below a top-level domain" },
};

/* Sockets that start processes outside, and their directories.  '*' matches one component. */
static const char *const engine_places[] = {
	"/run/docker.sock", "/run/docker", "/run/podman", "/run/containerd", "/run/crio", "/run/buildkit",
	"/run/cri-dockerd.sock", "/run/dockershim.sock", "/run/k3s", "/run/libpod", "/run/runc", "/run/crun",
	"/run/systemd/private", "/run/dbus",
	"/run/user/*/docker.sock", "/run/user/*/docker", "/run/user/*/podman", "/run/user/*/containerd",
	"/run/user/*/containerd-rootless", "/run/user/*/buildkit", "/run/user/*/buildkit-default", "/run/user/*/bus",
	"/run/user/*/systemd", "/run/user/*/libpod",
	/* Matches their parents: /var holds the link, on old systems the directory itself. */
	"/var/run/docker.sock", NULL };
static const char *const engine_homes[] = { ".docker/run", ".docker/desktop", ".rd/docker.sock", ".colima", NULL };
static const char *const engine_names[] = {
	"docker.sock", "podman.sock", "containerd.sock", "containerd.sock.ttrpc", "crio.sock", "buildkitd.sock",
	"cri-dockerd.sock", "dockershim.sock", NULL };

/* Below a home: files that programs of its owner read and execute outside. */
static const char *const home_places[] = {
	".ssh", ".gnupg", ".config/custody", ".local/state/custody", ".local/share/custody", ".config/systemd",
	".config/autostart", ".config/git", ".gitconfig", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile",
	".zshrc", ".zshenv", ".zprofile", ".zlogin", ".pam_environment", NULL };

/* Trees whose content the host's root executes; and directories that are such trees only as a whole. */
static const char *const system_trees[] = {
	"/etc", "/boot", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr/bin", "/usr/sbin", "/usr/lib",
	"/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/libexec", "/dev", "/proc", "/sys", "/run/custody", "/var/lib/custody",
	"/var/spool/cron", "/root/.ssh", NULL };
static const char *const system_dirs[] = { "/", "/usr", "/usr/local", "/usr/local/bin", "/usr/local/sbin", "/usr/share",
	"/var", "/var/lib", "/var/spool", "/run", "/var/run", "/opt", NULL };
/* clang-format on */

const struct profile_danger *profile_danger_at(size_t i)
{
	return i < ARRAY_SIZE(dangers) ? &dangers[i] : NULL;
}

/* Are they equal, or is one above the other?  Component by component; '*' in PLACE matches any. */
static bool is_related(const char *path, const char *place)
{
	while (*path == '/' && *place == '/') {
		size_t a = strcspn(++path, "/"), b = strcspn(++place, "/");

		if (a == 0 || b == 0)
			return true;
		if (!(b == 1 && *place == '*') && (a != b || memcmp(path, place, a) != 0))
			return false;
		path += a;
		place += b;
	}
	return true;
}

static bool is_related_to_any(const char *path, const char *const *places)
{
	for (size_t i = 0; places[i]; i++)
		if (is_related(path, places[i]))
			return true;
	return false;
}

static bool is_related_to_home(const char *path, const char *home, const char *const *places)
{
	for (size_t i = 0; places[i]; i++) {
		_cleanup_free_ char *full = path_join(home, places[i]);

		if (!full || is_related(path, full))
			return true;
	}
	return false;
}

static bool is_engine_socket(const char *path, const char *home)
{
	const char *base = strrchr(path, '/') + 1;

	if (path_is_below(path, "/var/run"))
		path += strlen("/var");
	for (size_t i = 0; engine_names[i]; i++)
		if (strcmp(base, engine_names[i]) == 0)
			return true;
	if (is_related_to_any(path, engine_places))
		return true;
	/* A home or a parent of it is dangerous only if writable: projects in /home must stay readable. */
	return home && path_is_below(path, home) && strcmp(path, home) != 0 &&
	       is_related_to_home(path, home, engine_homes);
}

static bool is_system(const char *path)
{
	for (size_t i = 0; system_trees[i]; i++)
		if (path_is_below(path, system_trees[i]))
			return true;
	for (size_t i = 0; system_dirs[i]; i++)
		if (strcmp(path, system_dirs[i]) == 0)
			return true;
	return false;
}

const char *profile_path_danger(const char *path, bool rw, const char *home)
{
	if (rw && is_system(path))
		return dangers[RW_ROOT].word;
	if (rw && project_is_home(path))
		return dangers[RW_HOME].word;
	if (rw && home && (path_is_below(home, path) || is_related_to_home(path, home, home_places)))
		return dangers[RW_HOME].word;
	if (is_engine_socket(path, home))
		return dangers[ENGINE_SOCKET].word;
	return NULL;
}

static const char *meaning(const char *word)
{
	for (size_t i = 0; profile_danger_at(i); i++)
		if (strcmp(dangers[i].word, word) == 0)
			return dangers[i].what;
	return "a layer is missing";
}

static int refuse(const struct profile *p, const char *what, const char *word, struct fault *f)
{
	return fault_set(f, EPERM,
			 "profile '%s': %s is dangerous: %s; to allow it, add \"%s\" to 'dangerous'", p->name,
			 what, meaning(word), word);
}

static int require_path(const struct profile *p, const char *key, const char *bind, bool rw, const char *home,
			struct fault *f)
{
	_cleanup_free_ char *source = strndup(bind, strcspn(bind, ":")), *what = NULL;
	_cleanup_strbuf_ struct strbuf b = { 0 };
	const char *word;

	if (!source)
		return fault_errno(f, ENOMEM, "profile");
	/* Both may apply: "/" is writable and has every socket below it. */
	for (int write = rw; write >= 0; write--) {
		word = profile_path_danger(source, write, home);
		if (!word || strv_has(p->dangerous, word))
			continue;
		strbuf_printf(&b, "'%s': %s '%s'%s", key, write ? "writing" : "reaching", source,
			      p->workspace_source == bind ? " (the worktree: start it in another directory)"
							  : "");
		what = strbuf_take(&b);
		return refuse(p, what ? what : key, word, f);
	}
	return 0;
}

static int require_paths(const struct profile *p, const char *key, char *const *v, bool rw, const char *home,
			 struct fault *f)
{
	int r = 0;

	for (size_t i = 0; v && v[i] && r == 0; i++)
		r = require_path(p, key, v[i], rw, home, f);
	return r;
}

static bool is_root_inside(const struct profile *p)
{
	const char *group = strchr(p->process_user, ':');

	return str_eq(p->process_user, "root") || profile_is_zero_id(p->process_user) ||
	       (group && profile_is_zero_id(group + 1));
}

static int require_hosts(const struct profile *p, struct fault *f)
{
	for (size_t i = 0; i < p->n_network_hosts; i++) {
		_cleanup_free_ char *what = NULL;

		if (!host_rule_is_wide(&p->network_hosts[i]) ||
		    strv_has(p->dangerous, dangers[ANY_HOST].word))
			continue;
		if (asprintf(&what, "'network.hosts': '%s'", p->network_hosts[i].host) < 0)
			what = NULL;
		return refuse(p, what ? what : "'network.hosts'", dangers[ANY_HOST].word, f);
	}
	return 0;
}

int profile_require_no_danger(const struct profile *p, const struct profile_vars *vars, struct fault *f)
{
	const char *home = vars ? vars->home : NULL;
	int r = 0;

	if (p->workspace != PROFILE_WORKSPACE_TMPFS && p->workspace_source && !p->workspace_sandbox &&
	    !(vars && vars->workspace))
		r = require_path(p, "workspace.source", p->workspace_source,
				 p->workspace == PROFILE_WORKSPACE_RW, home, f);
	if (r == 0 && p->root == PROFILE_ROOT_DIR && p->root_path)
		r = require_path(p, "root.path", p->root_path, false, home, f);
	if (r == 0 && p->root == PROFILE_ROOT_HOST_RO)
		r = require_paths(p, "root.paths", p->root_host_paths, false, home, f);
	if (r == 0)
		r = require_paths(p, "filesystem.ro", p->fs_ro, false, home, f);
	if (r == 0)
		r = require_paths(p, "filesystem.rw", p->fs_rw, true, home, f);
	if (r < 0)
		return r;
	if (p->network == PROFILE_NETWORK_HOST && !strv_has(p->dangerous, "host-network") &&
	    !strv_has(p->dangerous, "no-network-namespace"))
		return refuse(p, "'network.mode' host", "host-network", f);
	r = require_hosts(p, f);
	if (r < 0)
		return r;
	if (!(p->layers & LAYER_BIT(LAYER_USER_NS)) && is_root_inside(p) &&
	    !strv_has(p->dangerous, "host-root"))
		return refuse(p, "'no-user-namespace' with 'process.user' root, or user or group 0",
			      "host-root", f);
	return 0;
}
