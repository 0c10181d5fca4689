/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-scope.h"

#include <errno.h>

int run_scope_open(struct run_scope *s, const char *libexec, struct cgroup *ret, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	int r = cgroup_open(s->run_fd, s->id, s->want, ret, f);

	if (r < 0 || !ret->scope_may_help)
		return r;
	if (scope_open(&s->scope, libexec, s->id, cgroup_controllers(s->want), &why) < 0)
		return cgroup_blame_scope(ret, fault_text(&why), f);
	/* The creator is to be in one v2 cgroup only. */
	r = cgroup_remove(ret, f);
	cgroup_done(ret);
	s->open = r == 0;
	return r;
}

void run_scope_ask(struct run_scope *s, pid_t creator)
{
	if (s->open)
		(void)!scope_ask(&s->scope, creator, &s->fault);
}

static int join(struct run_scope *s, struct cgroup *c, struct fault *f)
{
	_cleanup_free_ char *dir = NULL;
	struct cgroup_scope place = { .holder = s->scope.holder, .member = s->scope.member };
	int r;

	if (s->fault.code)
		return fault_set(f, s->fault.code, "%s", fault_text(&s->fault));
	r = scope_wait(&s->scope, &dir, f);
	if (r < 0)
		return r;
	place.dir = dir;
	return cgroup_open_scope(s->run_fd, s->id, &place, s->want, c, f);
}

int run_scope_join(struct run_scope *s, pid_t creator, struct cgroup *c, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	int r;

	if (!s->open || join(s, c, &why) == 0)
		return 0;
	r = cgroup_open(s->run_fd, s->id, s->want, c, f);
	if (r == 0 && c->missing)
		r = cgroup_blame_scope(c, fault_text(&why), f);
	return r < 0 ? r : cgroup_attach(c, creator, f);
}

void run_scope_done(struct run_scope *s)
{
	scope_done(&s->scope);
	fault_done(&s->fault);
	*s = RUN_SCOPE_NONE;
}
