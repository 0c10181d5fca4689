/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile-open.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "profile/profile-default.h"
#include "state/project.h"

/* The caller's directory is only a name where another one is the worktree: it may be missing then. */
static int find_cwd(const char *workspace, char *cwd, size_t size, struct fault *f)
{
	if (getcwd(cwd, size))
		return 0;
	if (errno != ENOENT || !workspace || strlen(workspace) >= size)
		return fault_errno(
			f, errno,
			"the current directory, which is the worktree, was removed: cd to an existing one");
	memcpy(cwd, workspace, strlen(workspace) + 1);
	return 0;
}

typedef int load_fn(const char *name, const struct profile_sources *src, const struct profile_vars *vars,
		    struct profile **ret, struct fault *f);

static int open_with(load_fn *load, const struct dirs *d, const char *name, const char *session,
		     const char *workspace, struct profile **ret, struct fault *f)
{
	_cleanup_free_ char *trust = path_join(d->config, "trust.json");
	const char *dirs[4] = { d->profiles_admin };
	struct profile_sources src = { .dirs = dirs, .trust_file = trust };
	struct profile_vars vars = {
		.home = d->home, .user = d->user, .session = session, .workspace = workspace, .uid = geteuid()
	};
	_cleanup_project_ struct project project = { 0 };
	char cwd[PATH_MAX];
	size_t n = 1;
	int r;

	if (!trust)
		return fault_errno(f, ENOMEM, "profile '%s'", name);
	r = find_cwd(workspace, cwd, sizeof(cwd), f);
	if (r < 0)
		return r;
	if (d->profiles_user)
		dirs[n++] = d->profiles_user;
	dirs[n] = d->profiles_shipped;
	vars.cwd = cwd;
	/* Also with --here: other runs write the whole project. The current directory may be missing. */
	if (project_find_any(d->home, &project, NULL) == -ENOMEM)
		return fault_errno(f, ENOMEM, "profile '%s'", name);
	/* Every profile lies below "/": that does not make it part of an untrusted tree. */
	src.worktree = workspace && strcmp(cwd, "/") == 0 ? workspace : project.top ? project.top : cwd;
	return load(name, &src, &vars, ret, f);
}

int profile_open(const struct dirs *d, const char *name, const char *session, const char *workspace,
		 struct profile **ret, struct fault *f)
{
	return open_with(profile_load, d, name, session, workspace, ret, f);
}

int profile_open_default(const struct dirs *d, const char *base, const char *session, const char *workspace,
			 struct profile **ret, struct fault *f)
{
	return open_with(profile_default_load, d, base, session, workspace, ret, f);
}
