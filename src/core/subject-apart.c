/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "core/dirs.h"
#include "core/subject.h"

/* DIR resolved as far as it exists; the rest is made later, by us, where this says.  NULL on ENOMEM. */
static char *resolve(const char *dir)
{
	_cleanup_free_ char *head = strdup(dir), *real = NULL;

	while (head) {
		char *slash;

		real = realpath(head, NULL);
		if (real || errno == ENOMEM)
			break;
		slash = strrchr(head, '/');
		if (!slash || slash == head)
			return strdup(dir);
		*slash = '\0';
	}
	if (!head || !real)
		return NULL;
	return dir[strlen(head)] ? path_join(real, dir + strlen(head) + 1) : TAKE_PTR(real);
}

/* One is the other or holds it: whoever writes there writes what a later run believes. */
static int require_apart(const char *source, const char *dir, struct fault *f)
{
	_cleanup_free_ char *real = dir ? resolve(dir) : NULL;

	if (!dir)
		return 0;
	if (!real)
		return fault_errno(f, ENOMEM, "'%s'", dir);
	if (!path_is_below(real, source) && !path_is_below(source, real))
		return 0;
	return fault_set(
		f, EPERM,
		"'%s' would be writable, and custody's own '%s' lies there: choose another directory, or "
		"move custody's (CUSTODY_ROOT)",
		source, real);
}

static int require_source(const char *source, const struct dirs *d, struct fault *f)
{
	const char *const own[] = { d->config, d->profiles_admin,   d->profiles_user, d->state,
				    d->run,    d->profiles_shipped, d->libexec };
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(own) / sizeof(own[0]); i++)
		r = require_apart(source, own[i], f);
	return r;
}

int subject_require_apart(const struct subject *s, const struct dirs *d, struct fault *f)
{
	int r = 0;

	if (s->worktree && s->profile->workspace == PROFILE_WORKSPACE_RW)
		r = require_source(s->worktree, d, f);
	for (size_t i = 0; r == 0 && i < s->n_mounts; i++)
		if (s->mounts[i].kind == SUBJECT_MOUNT_BIND && s->mounts[i].rw)
			r = require_source(s->mounts[i].source, d, f);
	return r;
}
