/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile-open.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "base/path.h"

int profile_open(const struct dirs *d, const char *name, const char *session, struct profile **ret,
		 struct fault *f)
{
	_cleanup_free_ char *trust = path_join(d->config, "trust.json");
	const char *dirs[4] = { d->profiles_admin };
	struct profile_sources src = { .dirs = dirs, .trust_file = trust };
	struct profile_vars vars = { .home = d->home, .user = d->user, .session = session, .uid = geteuid() };
	char cwd[PATH_MAX];
	size_t n = 1;

	if (!trust)
		return fault_errno(f, ENOMEM, "profile '%s'", name);
	if (!getcwd(cwd, sizeof(cwd)))
		return fault_errno(
			f, errno,
			"the current directory, which is the worktree, was removed: cd to an existing one");
	if (d->profiles_user)
		dirs[n++] = d->profiles_user;
	dirs[n] = d->profiles_shipped;
	src.worktree = vars.cwd = cwd;
	return profile_load(name, &src, &vars, ret, f);
}
