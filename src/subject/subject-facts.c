/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/subject-facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "subject/subject-git.h"

/* git may stand behind a shell or a wrapper; other commands do not pay for the check. */
static bool names_git(char *const *argv)
{
	for (; *argv; argv++)
		if (strstr(*argv, "git"))
			return true;
	return false;
}

/* Is PATH at, above or below a directory with programs, libraries or settings that programs obey? */
static bool is_system(const char *path)
{
	static const char *const dirs[] = { "/usr",   "/bin",	 "/sbin", "/lib", "/lib32",
					    "/lib64", "/libx32", "/etc",  "/opt", NULL };

	for (size_t i = 0; dirs[i]; i++)
		if (path_is_below(path, dirs[i]) || path_is_below(dirs[i], path))
			return true;
	return false;
}

/* Does M show what the root itself has at its target? */
static bool is_of_root(const struct subject *s, const struct subject_mount *m)
{
	_cleanup_free_ char *own = s->profile->root == PROFILE_ROOT_DIR
					   ? path_join(s->profile->root_path, m->target)
					   : strdup(m->target);
	_cleanup_free_ char *real = own ? realpath(own, NULL) : NULL;

	return real && strcmp(real, m->source) == 0;
}

/* The first mount over programs or settings of the system: with it no word means what policy knows. */
static const char *find_replaced(const struct subject *s)
{
	const char *work = subject_work_target(s);

	if (is_system(work))
		return work;
	for (size_t i = 0; i < s->n_mounts; i++)
		if (s->mounts[i].kind != SUBJECT_MOUNT_TMPFS && is_system(s->mounts[i].target) &&
		    !is_of_root(s, &s->mounts[i]))
			return s->mounts[i].target;
	return NULL;
}

static enum policy_network network_of(const struct profile *p)
{
	switch (p->network) {
	case PROFILE_NETWORK_NONE:
		return POLICY_NETWORK_NONE;
	case PROFILE_NETWORK_ALLOW:
		return POLICY_NETWORK_ALLOW;
	case PROFILE_NETWORK_HOST:
		break;
	}
	return POLICY_NETWORK_HOST;
}

int subject_facts_fill(const struct subject *s, struct policy_facts *ret, struct fault *f)
{
	const struct profile *p = s->profile;
	struct policy_mount *rw = NULL;
	size_t n = 0;

	if (s->n_mounts > 0) {
		rw = calloc(s->n_mounts, sizeof(*rw));
		if (!rw)
			return fault_errno(f, ENOMEM, "facts of '%s'", s->argv[0]);
	}
	for (size_t i = 0; i < s->n_mounts; i++)
		if (s->mounts[i].rw && s->mounts[i].kind == SUBJECT_MOUNT_BIND && !s->mounts[i].disposable)
			rw[n++] = (struct policy_mount){ s->mounts[i].target, s->mounts[i].source };
	*ret = (struct policy_facts){
		.argv = s->argv,
		.env = s->env,
		.cwd = s->cwd,
		.home = s->home,
		.worktree = subject_work_target(s),
		.worktree_host = s->worktree,
		.home_is_apart = !s->holds_home,
		.isolated = true,
		.worktree_mode = p->workspace == PROFILE_WORKSPACE_RW && !s->disposable
					 ? POLICY_WORKTREE_RW
					 : POLICY_WORKTREE_EPHEMERAL,
		.rw = rw,
		.n_rw = n,
		.network = network_of(p),
		.broker_tool = p->sections[PROFILE_SECTION_BROKER] != NULL,
		.profile_name = p->name,
		.replaced = find_replaced(s),
		.git_is_plain = !s->in_use && names_git(s->argv) && subject_git_is_plain(s),
	};
	return 0;
}

void subject_facts_done(struct policy_facts *p)
{
	free((struct policy_mount *)p->rw);
	*p = (struct policy_facts){ 0 };
}
