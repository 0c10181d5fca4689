/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/subject-facts.h"

#include <errno.h>
#include <string.h>

#include "subject/subject-git.h"

/* git may stand behind a shell or a wrapper; other commands do not pay for the check. */
static bool names_git(char *const *argv)
{
	for (; *argv; argv++)
		if (strstr(*argv, "git"))
			return true;
	return false;
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
		if (s->mounts[i].rw && s->mounts[i].kind == SUBJECT_MOUNT_BIND)
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
		.worktree_mode =
			p->workspace == PROFILE_WORKSPACE_RW ? POLICY_WORKTREE_RW : POLICY_WORKTREE_EPHEMERAL,
		.rw = rw,
		.n_rw = n,
		.network = p->network == PROFILE_NETWORK_NONE ? POLICY_NETWORK_NONE : POLICY_NETWORK_HOST,
		.broker_tool = p->sections[PROFILE_SECTION_BROKER] != NULL,
		.profile_name = p->name,
		.git_is_plain = names_git(s->argv) && subject_git_is_plain(s),
	};
	return 0;
}

void subject_facts_done(struct policy_facts *p)
{
	free((struct policy_mount *)p->rw);
	*p = (struct policy_facts){ 0 };
}
