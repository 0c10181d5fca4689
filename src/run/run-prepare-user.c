/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/userns.h"
#include "run/run-prepare-impl.h"
#include "session/session-aside.h"
#include "session/session-upper.h"
#include "worktree/worktree.h"

/*
 * The container's user namespace mounts the worktree and the binds by their paths.  There every mount that exists before is
 * locked, and the kernel neither clones nor overlays a directory with a locked mount below it (EINVAL).
 */
static bool is_apart(const struct run_prepare *p, const char *point)
{
	const struct subject *s = p->subject;

	if (s->worktree && path_is_below(point, s->worktree))
		return false;
	for (size_t i = 0; i < s->n_mounts; i++)
		if (s->mounts[i].source && path_is_below(point, s->mounts[i].source))
			return false;
	return true;
}

int run_prepare_find_user_point(const struct run_prepare *p, char **ret, struct fault *f)
{
	_cleanup_free_ char *point = NULL;

	*ret = NULL;
	/* Subordinate ids are mapped by set-id programs, which have no privilege in a user namespace of ours. */
	if (id_map_is_set(&p->session->ids))
		return 0;
	point = realpath(p->session->mount_point, NULL);
	if (!point)
		return fault_errno(f, errno, "'%s'", p->session->mount_point);
	if (is_apart(p, point))
		*ret = TAKE_PTR(point);
	return 0;
}

static int make_sealed(const struct run_prepare *p, int dirfd, struct placement *pl, struct fault *f)
{
	_cleanup_close_ int aside = -EBADF;
	_cleanup_free_ char *parent = NULL;
	int r;

	if (!operand_needs_lower(p->subject))
		return 0;
	if (p->mount_point)
		return run_prepare_sealed(dirfd, p->mount_point, p->subject, pl, f);
	r = session_aside_make(p->session, p->subject->worktree, &parent, f);
	if (r < 0)
		return r;
	aside = open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (aside < 0)
		return fault_errno(f, errno, "open '%s'", parent);
	return run_prepare_sealed(aside, parent, p->subject, pl, f);
}

/* Nothing is mounted here: the container's user namespace does it later, from these paths. */
static int name_layers(const struct run_prepare *p, struct placement *pl, struct fault *f)
{
	int r = 0;

	pl->worktree = p->subject->worktree;
	pl->init = path_join(p->dirs->libexec, "custody-init");
	pl->call = p->token ? path_join(p->dirs->libexec, "custody-call") : NULL;
	pl->mcp = p->token ? path_join(p->dirs->libexec, "custody-mcp") : NULL;
	if (!pl->init || (p->token && (!pl->call || !pl->mcp)))
		return fault_errno(f, ENOMEM, "session");
	if (p->upper) {
		r = run_prepare_upper(p, pl->uid_base, pl->gid_base, f);
		pl->upper = p->upper;
		pl->work = p->work;
		pl->base = p->base ? p->base->tree.path : NULL;
	}
	if (r == 0 && p->repository) {
		r = run_prepare_repository(p, pl->uid_base, pl->gid_base, f);
		pl->repository_base = p->base && p->base->repository.open ? p->base->repository.path : NULL;
		pl->repository_upper = p->repository_upper;
		pl->repository_work = p->repository_work;
	}
	return r;
}

/* A user namespace around the container's, in which a user may mount. */
static int leave_host(struct fault *f)
{
	int r = userns_enter(f);

	return r < 0 ? r : worktree_leave_host(f);
}

/*
 * The directory for root, sealed copies and the runtime's state: forty files that exist as long as the run starts.  On a disk
 * each costs more than everything else that is done for it: ext4 searches a free inode among those of earlier runs, which it
 * does not use again for a minute.
 */
static int open_parent(const struct run_prepare *p, int *ret, struct fault *f)
{
	int r;

	if (!p->mount_point) {
		*ret = open(p->session->run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return *ret < 0 ? fault_errno(f, errno, "open '%s'", p->session->run) : 0;
	}
	r = leave_host(f);
	if (r == 0)
		r = worktree_mount_tmpfs(p->mount_point, ret, f);
	return r;
}

int run_prepare_as_user(const struct run_prepare *p, struct placement *pl, struct fault *f)
{
	const char *parent = p->mount_point ? p->mount_point : p->session->run;
	_cleanup_close_ int dirfd = -EBADF;
	int r;

	pl->root_private = p->mount_point;
	r = name_layers(p, pl, f);
	if (r == 0)
		r = open_parent(p, &dirfd, f);
	if (r == 0)
		r = make_sealed(p, dirfd, pl, f);
	if (r == 0 && profile_is_fuse(p->subject->profile)) {
		if (!p->mount_point)
			r = leave_host(f);
		if (r == 0)
			r = run_prepare_overlay(dirfd, parent, p->session->state, p->subject, pl, f);
	}
	return r < 0 ? r : run_prepare_rootfs(dirfd, parent, p->subject, pl, f);
}
