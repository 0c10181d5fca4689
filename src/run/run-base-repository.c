/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>

#include "base/fd.h"
#include "base/str.h"
#include "run/run-base.h"
#include "state/git-link.h"

/* The one that the file .git of the worktree names now, as the same linked worktree or submodule. */
static int require_same(const struct run_base_ask *a, const struct session_upper *k, struct fault *f)
{
	const struct git_link *g = a->git;

	/* The sum of the chain would lack the commits to which the worktree's changes may refer. */
	if (!g)
		return fault_set(f, ENOTSUP,
				 "session '%s' has changes of the repository '%s', and this run does not use "
				 "it: run without --here and without -v in its place; --fresh starts on the "
				 "worktree",
				 k->session, k->worktree);
	if (k->device == g->device && k->inode == g->inode && k->own && str_eq(k->own, g->own ? g->own : ""))
		return 0;
	return fault_set(f, ESTALE,
			 "the worktree's file .git names '%s' now, which is not the repository that session "
			 "'%s' changed; see 'custody diff %s'; --fresh starts on the worktree",
			 g->repository, k->session, k->session);
}

int run_base_open_repository(const struct run_base_ask *ask, struct run_base *b, struct fault *f)
{
	struct run_layer *l = &b->repository;
	_cleanup_close_ int dir =
		openat(b->lock, SESSION_REPOSITORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (dir < 0)
		return errno == ENOENT ? 0 : fault_errno(f, errno, "--continue: '" SESSION_REPOSITORY "'");
	*l = (struct run_layer){ .open = true, .subject = { .view = -EBADF } };
	r = session_upper_read(dir, &l->kept, f);
	if (r == 0 && !str_eq(l->kept.session, b->tree.kept.session))
		r = fault_set(f, EINVAL, "'%s' of the repository belongs to another session",
			      SESSION_UPPER_FILE);
	if (r == 0)
		r = require_same(ask, &l->kept, f);
	if (r < 0)
		return fault_wrap(f, r, "--continue");
	return run_layer_open(ask->dirs, dir, SESSION_REPOSITORY, l, f);
}
