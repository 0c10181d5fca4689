/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/tool-places.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "subject/subject.h"

#define DIRS_MAX 256 /* of the caller's PATH */

/* clang-format off */
/* A directory of PATH below the home; its parts below the home, only those that exist; the variable that names ROOT. */
static const struct manager {
	const char *dir, *parts, *variable, *root;
} managers[] = {
	{ ".asdf/shims",   ".asdf/shims .asdf/bin .asdf/lib .asdf/libexec .asdf/installs .asdf/plugins .asdf/asdf.sh", "ASDF_DATA_DIR", ".asdf" },
	{ ".bun/bin",      ".bun/bin .bun/install/global/node_modules", NULL, NULL },
	{ ".cargo/bin",    ".cargo/bin .rustup/toolchains .rustup/update-hashes .rustup/settings.toml", "RUSTUP_HOME", ".rustup" },
	{ ".local/bin",    ".local/bin .local/lib .local/libexec .local/pipx/venvs .local/share/pipx/venvs .local/share/pipx/py"
			   " .local/share/uv/tools .local/share/uv/python .local/share/claude/versions", "PYTHONUSERBASE", ".local" },
	{ ".nodenv/bin",   ".nodenv/bin .nodenv/shims .nodenv/libexec .nodenv/plugins .nodenv/versions .nodenv/version", "NODENV_ROOT", ".nodenv" },
	{ ".nodenv/shims", ".nodenv/bin .nodenv/shims .nodenv/libexec .nodenv/plugins .nodenv/versions .nodenv/version", "NODENV_ROOT", ".nodenv" },
	{ ".pyenv/bin",    ".pyenv/bin .pyenv/shims .pyenv/libexec .pyenv/pyenv.d .pyenv/plugins .pyenv/versions .pyenv/version", "PYENV_ROOT", ".pyenv" },
	{ ".pyenv/shims",  ".pyenv/bin .pyenv/shims .pyenv/libexec .pyenv/pyenv.d .pyenv/plugins .pyenv/versions .pyenv/version", "PYENV_ROOT", ".pyenv" },
	{ ".rbenv/bin",    ".rbenv/bin .rbenv/shims .rbenv/libexec .rbenv/rbenv.d .rbenv/plugins .rbenv/versions .rbenv/version", "RBENV_ROOT", ".rbenv" },
	{ ".rbenv/shims",  ".rbenv/bin .rbenv/shims .rbenv/libexec .rbenv/rbenv.d .rbenv/plugins .rbenv/versions .rbenv/version", "RBENV_ROOT", ".rbenv" },
	{ ".volta/bin",    ".volta/bin .volta/tools", "VOLTA_HOME", ".volta" },
};

/* Below a home: keys, tokens and settings that may hold them. */
static const char *const secrets[] = {
	".aws", ".azure", ".boto", ".cargo/credentials", ".cargo/credentials.toml", ".claude.json", ".claude/.credentials.json",
	".codex/auth.json", ".composer/auth.json", ".config", ".docker/config.json", ".gem/credentials", ".gemini",
	".git-credentials", ".gnupg", ".gradle/gradle.properties", ".kube", ".local/share/keyrings", ".local/share/kwalletd",
	".local/share/uv/credentials", ".local/state", ".m2/settings.xml", ".mozilla", ".netrc", ".npmrc", ".password-store",
	".pgpass", ".pki", ".pypirc", ".ssh", ".subversion", ".terraform.d", ".thunderbird", ".vault-token", NULL,
};

/* Where the host's own programs are: every profile with the host's root shows them, and none of them is left out by name. */
static const char *const system_dirs[] = { "/usr", "/bin", "/sbin", "/lib", "/lib64", NULL };
/* clang-format on */

static const char *const prefix_parts[] = { "bin", "lib", "libexec", "share", NULL };

/* Why a directory is left out. */
#define NOT_ABSOLUTE "not absolute"
#define DOTS "'..' is in its path"
#define ELSEWHERE "neither below the home directory nor below /opt"
#define LINK "a symbolic link is in its path: name the directory itself"
#define FOREIGN "it, or a parent, belongs to another user"
#define WRITABLE "other users can write to it, or to a parent"
#define SECRET "it, or a parent, may hold secrets"
#define IN_WORKTREE "it is in the worktree"
#define OWN "it is in custody's own directories, where commands write"
#define AROUND "it contains the worktree"
#define UNNAMEABLE "its name has characters that cannot be shown"
#define CLOSED "it cannot be opened"

void tool_places_done(struct tool_places *p)
{
	strv_free(p->dirs);
	strv_free(p->shown);
	strv_free(p->env);
	strv_free(p->left);
	*p = (struct tool_places){ 0 };
}

bool tool_places_has(const struct tool_places *p, const char *path)
{
	for (char **s = p->shown; s && *s; s++)
		if (path_is_below(path, *s))
			return true;
	return false;
}

/* The search with both homes resolved. */
struct finder {
	const struct tool_search *search;
	struct tool_places *ret;
	char *home, *passwd_home;
};

static void finder_done(struct finder *w)
{
	free(w->home);
	free(w->passwd_home);
}

/* NULL: not there, or the root of the file system, below which everything is. */
static char *resolve_home(const char *home)
{
	char *real = home && home[0] == '/' ? realpath(home, NULL) : NULL;

	if (!str_eq(real, "/"))
		return real;
	free(real);
	return NULL;
}

static bool is_near_secret(const char *path, const char *home)
{
	char full[PATH_MAX];

	for (size_t i = 0; home && secrets[i]; i++)
		if (snprintf(full, sizeof(full), "%s/%s", home, secrets[i]) >= (int)sizeof(full) ||
		    path_is_below(path, full) || path_is_below(full, path))
			return true;
	return false;
}

/* The directory at or above PATH below which tools are looked for, resolved; NULL: none. */
static const char *anchor_of(const struct finder *w, const char *path)
{
	if (w->home && path_is_below(path, w->home))
		return w->home;
	if (w->passwd_home && path_is_below(path, w->passwd_home))
		return w->passwd_home;
	return path_is_below(path, "/opt") ? "/opt" : NULL;
}

/* The group of a user alone has the number of the user, and no list adds another one. */
static bool is_private(int fd, const struct stat *st)
{
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return st->st_gid == st->st_uid && getxattr(link, "system.posix_acl_access", NULL, 0) < 0;
}

static const char *judge(int fd, const struct stat *st)
{
	if (S_ISLNK(st->st_mode))
		return LINK;
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return FOREIGN;
	if (st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && !is_private(fd, st)))
		return WRITABLE;
	return NULL;
}

/* From ANCHOR down, name by name, each by descriptor.  *RET_WHY: why it is left out.  False: it does not exist. */
static bool walk_down(const char *anchor, const char *path, const char **ret_why)
{
	_cleanup_close_ int at = open(anchor, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	const char *rest = path + strlen(anchor);
	struct stat st;

	*ret_why = NULL;
	while (at >= 0 && fstat(at, &st) == 0) {
		char name[NAME_MAX + 1];
		size_t n;
		int next;

		*ret_why = judge(at, &st);
		rest += strspn(rest, "/");
		if (*ret_why || !*rest)
			return *ret_why || S_ISDIR(st.st_mode) || S_ISREG(st.st_mode);
		n = strcspn(rest, "/");
		if (n > NAME_MAX)
			return false;
		memcpy(name, rest, n);
		name[n] = '\0';
		next = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0 && (errno == ENOENT || errno == ENOTDIR))
			return false;
		(void)fd_close(at);
		at = next;
		rest += n;
	}
	*ret_why = CLOSED;
	return true;
}

/* Why PATH, normalized, is not shown; NULL and true: it is.  False: it does not exist. */
static bool look_at(const struct finder *w, const char *path, const char **ret_why)
{
	const char *anchor = anchor_of(w, path), *work = w->search->worktree;

	if (work && path_is_below(path, work))
		*ret_why = IN_WORKTREE;
	else if (w->search->own && subject_is_own_dir(path, w->search->own))
		*ret_why = OWN;
	else if (!anchor)
		*ret_why = ELSEWHERE;
	else if (is_near_secret(path, w->home) || is_near_secret(path, w->passwd_home))
		*ret_why = SECRET;
	else if (work && path_is_below(work, path))
		*ret_why = AROUND;
	else if (str_eq(anchor, path))
		*ret_why = ELSEWHERE;
	else
		return walk_down(anchor, path, ret_why);
	return access(path, F_OK) == 0;
}

static int show(const struct finder *w, const char *path, struct fault *f)
{
	const char *why;

	if (!look_at(w, path, &why) || why || tool_places_has(w->ret, path))
		return 0;
	return strv_append(&w->ret->shown, path) < 0 ? fault_errno(f, ENOMEM, "tools") : 0;
}

static int show_part(const struct finder *w, const char *base, const char *part, size_t len, struct fault *f)
{
	_cleanup_free_ char *name = strndup(part, len), *path = name ? path_join(base, name) : NULL;

	return path ? show(w, path, f) : fault_errno(f, ENOMEM, "tools");
}

static int show_manager(const struct finder *w, const char *home, const struct manager *m, struct fault *f)
{
	int r = 0;

	for (const char *part = m->parts; r == 0 && *part; part += strspn(part, " ")) {
		size_t n = strcspn(part, " ");

		r = show_part(w, home, part, n, f);
		part += n;
	}
	if (r == 0 && m->variable && strv_appendf(&w->ret->env, "%s=%s/%s", m->variable, home, m->root) < 0)
		r = fault_errno(f, ENOMEM, "tools");
	return r;
}

static const struct manager *find_manager(const struct finder *w, const char *dir, const char **ret_home)
{
	const char *const homes[] = { w->home, w->passwd_home };

	for (size_t h = 0; h < ARRAY_SIZE(homes); h++)
		for (size_t i = 0; homes[h] && i < ARRAY_SIZE(managers); i++) {
			size_t n = strlen(homes[h]);

			if (path_is_below(dir, homes[h]) &&
			    str_eq(dir + n + (dir[n] == '/'), managers[i].dir)) {
				*ret_home = homes[h];
				return &managers[i];
			}
		}
	return NULL;
}

/* PREFIX of DIR = PREFIX/bin, if it has a lib and lies below the home or /opt; heap, NULL: none. */
static char *prefix_of(const struct finder *w, const char *dir)
{
	char *prefix = str_ends(dir, "/bin") ? strndup(dir, strlen(dir) - strlen("/bin")) : NULL,
	     lib[PATH_MAX];
	const char *anchor = prefix ? anchor_of(w, prefix) : NULL;
	struct stat st;

	if (anchor && !str_eq(prefix, anchor) &&
	    snprintf(lib, sizeof(lib), "%s/lib", prefix) < (int)sizeof(lib) && lstat(lib, &st) == 0 &&
	    S_ISDIR(st.st_mode))
		return prefix;
	free(prefix);
	return NULL;
}

static int show_dir(const struct finder *w, const char *dir, struct fault *f)
{
	const char *home = NULL;
	const struct manager *m = find_manager(w, dir, &home);
	_cleanup_free_ char *prefix = m ? NULL : prefix_of(w, dir);
	int r = 0;

	if (strv_append(&w->ret->dirs, dir) < 0)
		return fault_errno(f, ENOMEM, "tools");
	if (m)
		return show_manager(w, home, m, f);
	for (size_t i = 0; prefix && r == 0 && prefix_parts[i]; i++)
		r = show_part(w, prefix, prefix_parts[i], strlen(prefix_parts[i]), f);
	return r < 0 || prefix ? r : show(w, dir, f);
}

static int leave(const struct finder *w, const char *entry, const char *why, struct fault *f)
{
	_cleanup_free_ char *clean = str_escape(entry);

	return clean && strv_appendf(&w->ret->left, "'%s' (%s)", clean, why) == 0
		       ? 0
		       : fault_errno(f, ENOMEM, "tools");
}

static bool is_system(const char *dir)
{
	for (size_t i = 0; system_dirs[i]; i++)
		if (path_is_below(dir, system_dirs[i]))
			return true;
	return false;
}

/* A home behind a link (/home -> /usr/home) is named by either path. */
static char *resolve_below_home(const struct finder *w, const char *dir)
{
	const char *home = w->search->home;
	size_t n = home ? strlen(home) : 0;

	if (w->home && home[0] == '/' && !str_eq(home, w->home) && path_is_below(dir, home) && n > 1)
		return dir[n] ? path_join(w->home, dir + n + 1) : strdup(w->home);
	return strdup(dir);
}

static int read_entry(const struct finder *w, const char *entry, struct fault *f)
{
	_cleanup_free_ char *normal = NULL, *dir = NULL, *clean = NULL;
	const char *why;

	if (entry[0] != '/')
		return leave(w, entry, NOT_ABSOLUTE, f);
	if (path_normalize(entry, &normal, NULL) < 0)
		return leave(w, entry, DOTS, f);
	if (is_system(normal))
		return 0;
	dir = resolve_below_home(w, normal);
	clean = dir ? str_escape(dir) : NULL;
	if (!clean)
		return fault_errno(f, ENOMEM, "tools");
	if (strv_has(w->ret->dirs, dir) || !look_at(w, dir, &why))
		return 0;
	if (!why && !str_eq(clean, dir))
		why = UNNAMEABLE;
	return why ? leave(w, entry, why, f) : show_dir(w, dir, f);
}

int tool_places_find(const struct tool_search *t, struct tool_places *ret, struct fault *f)
{
	_cleanup_(finder_done) struct finder w = { .search = t,
						   .ret = ret,
						   .home = resolve_home(t->home),
						   .passwd_home = resolve_home(t->passwd_home) };
	const char *at = t->path;
	int r = 0;

	for (int i = 0; r == 0 && at && i < DIRS_MAX; i++) {
		size_t n = strcspn(at, ":");
		_cleanup_free_ char *entry = strndup(at, n);

		r = entry ? read_entry(&w, entry, f) : fault_errno(f, ENOMEM, "tools");
		at = at[n] ? at + n + 1 : NULL;
	}
	return r;
}
