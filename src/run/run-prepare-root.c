/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/seam.h"
#include "run/run-prepare-impl.h"
#include "session/session-upper.h"
#include "worktree/worktree.h"

/* Can an unrelated user id walk to PATH? */
static bool is_reachable(const char *path)
{
	_cleanup_free_ char *copy = strdup(path);
	struct stat st;

	if (!copy)
		return false;
	for (char *slash = copy; *slash;) {
		slash += strcspn(slash + 1, "/") + 1;
		char kept = *slash;

		*slash = '\0';
		if (stat(copy, &st) < 0 || !(st.st_mode & S_IXOTH))
			return false;
		*slash = kept;
	}
	return true;
}

/* Would covering DIR hide something that the runtime is going to bind? */
static bool hides_source(const struct subject *s, const char *dir)
{
	for (size_t i = 0; i < s->n_mounts; i++)
		if (s->mounts[i].source && path_is_below(s->mounts[i].source, dir))
			return true;
	return false;
}

/*
 * The ids of the container walk to the tmpfs by its path.  CUSTODY_ROOT may be below a private directory; then any
 * ordinary directory is used, because it is covered in the creator's mount namespace only.
 */
int run_prepare_find_point(const struct session *s, const struct subject *subject, char **ret,
			   struct fault *f)
{
	static const char *const others[] = { "/mnt", "/media", "/srv", "/opt", "/home", "/tmp" };
	const char *found = is_reachable(s->mount_point) ? s->mount_point : NULL;
	struct stat st;

	for (size_t i = 0; !found && i < ARRAY_SIZE(others); i++)
		if (is_reachable(others[i]) && stat(others[i], &st) == 0 && S_ISDIR(st.st_mode) &&
		    !hides_source(subject, others[i]))
			found = others[i];
	if (!found)
		return fault_set(f, EACCES,
				 "'%s' cannot be reached by the ids of a container: chmod o+x its parents",
				 s->mount_point);
	*ret = strdup(found);
	return *ret ? 0 : fault_errno(f, ENOMEM, "session");
}

/* Trees of one run before they are attached. Nothing is freed: the creator exits soon. */
struct trees {
	int worktree, base, repository_base, layers, init, call, mcp;
	int *mounts; /* one per subject mount, -EBADF: bound by its path */
};

/*
 * A file system that cannot map owners still works when the worktree's owner is not root: container root is then that
 * owner itself, and no other id exists inside.
 */
static int clone_worktree(const struct run_prepare *p, struct placement *pl, int *ret, struct fault *f)
{
	const struct subject *s = p->subject;
	bool rw = s->profile->workspace == PROFILE_WORKSPACE_RW;
	struct worktree_ids ids = { .from_uid = s->owner_uid,
				    .to_uid = pl->uid_base + s->uid,
				    .from_gid = s->owner_gid,
				    .to_gid = pl->gid_base + s->gid };
	int r;

	/* Without a user namespace container root is the host's root, and ids are not mapped. */
	r = worktree_clone(s->worktree, rw, run_prepare_is_mapped(s) ? &ids : NULL, ret, f);
	if (r != -EOPNOTSUPP || s->owner_uid == 0 || s->owner_gid == 0)
		return r;
	if (f)
		fault_done(f);
	pl->uid_base = s->owner_uid;
	pl->gid_base = s->owner_gid;
	pl->n_ids = 1;
	return worktree_clone(s->worktree, rw, NULL, ret, f);
}

/* Read-only data may be replaced until it is mounted, but not by a socket or FIFO, which leads out. */
static int require_type(const struct subject_mount *m, int tree, struct fault *f)
{
	struct stat st;

	if (fstat(tree, &st) < 0)
		return fault_errno(f, errno, "mount source '%s'", m->source);
	if ((st.st_mode & S_IFMT) == m->file.type)
		return 0;
	return fault_set(f, EPERM, "'%s' was replaced by a file of another type after it was checked: retry",
			 m->source);
}

static int clone_mounts(const struct run_prepare *p, const struct placement *pl, struct trees *t,
			struct fault *f)
{
	const struct subject *s = p->subject;

	t->mounts = calloc(s->n_mounts + 1, sizeof(*t->mounts));
	if (!t->mounts)
		return fault_errno(f, ENOMEM, "mounts");
	for (size_t i = 0; i < s->n_mounts; i++) {
		const struct subject_mount *m = &s->mounts[i];
		struct worktree_ids ids = { .from_uid = m->owner_uid,
					    .to_uid = pl->uid_base + s->uid,
					    .from_gid = m->owner_gid,
					    .to_gid = pl->gid_base + s->gid };
		int r;

		t->mounts[i] = -EBADF;
		/* A tree is a lower, which the container's ids look up by its path. */
		if (m->kind == SUBJECT_MOUNT_TMPFS || (!m->idmap && !subject_mount_is_tree(s, m)))
			continue;
		r = worktree_clone(m->source, m->rw && m->kind == SUBJECT_MOUNT_BIND,
				   m->idmap && run_prepare_is_mapped(s) ? &ids : NULL, &t->mounts[i], f);
		if (r >= 0 && !m->rw)
			r = require_type(m, t->mounts[i], f);
		if (r >= 0 && (m->rw || m->exact || s->sandbox))
			r = subject_require_file(&m->file, t->mounts[i], m->source, f);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Of custody's own directories, whose configured paths may have symbolic links. */
static int clone_own(const char *dir, const char *name, bool rw, int *ret, struct fault *f)
{
	_cleanup_free_ char *path = path_join(dir, name), *real = path ? realpath(path, NULL) : NULL;

	if (!path)
		return fault_errno(f, ENOMEM, "session");
	if (!real)
		return fault_errno(f, errno, "'%s'", path);
	return worktree_clone(real, rw, NULL, ret, f);
}

/* Not mapped: the session took the ids of its base, so its files belong to the command's. */
static int clone_base(const struct run_prepare *p, const struct placement *pl, const struct run_layer *l,
		      int *ret, struct fault *f)
{
	const struct capture_ids *ids = &l->kept.ids;

	if (ids->uid_from != pl->uid_base + p->subject->uid ||
	    ids->gid_from != pl->gid_base + p->subject->gid)
		return fault_set(f, EPERM,
				 "the changes of session '%s' belong to other ids than those of this command "
				 "(process.user of the profile): run without --continue",
				 l->kept.session);
	return clone_own(l->path, ".", false, ret, f);
}

/*
 * fuse-overlayfs also sees the directory of its upper: the other files in it stay root's, and the directory is only
 * searchable.
 */
static int restrict_state(const struct run_prepare *p, struct fault *f)
{
	_cleanup_close_ int fd = open(p->session->state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || fchown(fd, geteuid(), getegid()) < 0 || fchmod(fd, 0711) < 0)
		return fault_errno(f, errno, "'%s'", p->session->state);
	return 0;
}

static int clone_trees(const struct run_prepare *p, struct placement *pl, struct trees *t, struct fault *f)
{
	int r = 0;

	*t = (struct trees){ .worktree = -EBADF,
			     .base = -EBADF,
			     .repository_base = -EBADF,
			     .layers = -EBADF,
			     .init = -EBADF,
			     .call = -EBADF,
			     .mcp = -EBADF };
	if (p->subject->worktree)
		r = clone_worktree(p, pl, &t->worktree, f);
	if (r == 0 && p->subject->worktree &&
	    (p->subject->sandbox || p->subject->profile->workspace == PROFILE_WORKSPACE_RW))
		r = subject_require_file(&p->subject->worktree_file, t->worktree, p->subject->worktree, f);
	if (r == 0 && p->upper)
		r = run_prepare_upper(p, pl->uid_base + p->subject->uid, pl->gid_base + p->subject->gid, f);
	if (r == 0 && p->repository)
		r = run_prepare_repository(p, pl->uid_base + p->subject->uid, pl->gid_base + p->subject->gid,
					   f);
	if (r == 0 && p->base)
		r = clone_base(p, pl, &p->base->tree, &t->base, f);
	if (r == 0 && p->base && p->base->repository.open)
		r = clone_base(p, pl, &p->base->repository, &t->repository_base, f);
	if (r == 0 && profile_is_fuse(p->subject->profile))
		r = restrict_state(p, f);
	if (r == 0 && p->upper)
		r = clone_own(p->session->state, ".", true, &t->layers, f);
	if (r == 0)
		r = clone_own(p->dirs->libexec, "custody-init", false, &t->init, f);
	if (r == 0 && p->token)
		r = clone_own(p->dirs->libexec, "custody-call", false, &t->call, f);
	if (r == 0 && p->token)
		r = clone_own(p->dirs->libexec, "custody-mcp", false, &t->mcp, f);
	return r < 0 ? r : clone_mounts(p, pl, t, f);
}

static int attach_tree(int tree, int dirfd, const char *point, const char *name, const char **ret,
		       struct fault *f)
{
	int r;

	if (tree < 0)
		return 0;
	r = worktree_place(tree, dirfd, name, f);
	if (r < 0)
		return r;
	*ret = path_join(point, name);
	return *ret ? 0 : fault_errno(f, ENOMEM, "session");
}

static int attach_trees(const struct run_prepare *p, int dirfd, const struct trees *t, struct placement *pl,
			struct fault *f)
{
	const char *layers = NULL;
	const char **sources = calloc(p->subject->n_mounts + 1, sizeof(*sources));
	int r;

	if (!sources)
		return fault_errno(f, ENOMEM, "session");
	pl->sources = sources;
	r = attach_tree(t->worktree, dirfd, p->mount_point, "tree", &pl->worktree, f);
	if (r == 0)
		r = attach_tree(t->base, dirfd, p->mount_point, "base", &pl->base, f);
	if (r == 0)
		r = attach_tree(t->repository_base, dirfd, p->mount_point, "rbase", &pl->repository_base, f);
	if (r == 0)
		r = attach_tree(t->layers, dirfd, p->mount_point, "l", &layers, f);
	if (r == 0)
		r = attach_tree(t->init, dirfd, p->mount_point, "init", &pl->init, f);
	if (r == 0)
		r = attach_tree(t->call, dirfd, p->mount_point, "call", &pl->call, f);
	if (r == 0)
		r = attach_tree(t->mcp, dirfd, p->mount_point, "mcp", &pl->mcp, f);
	for (size_t i = 0; r == 0 && i < p->subject->n_mounts; i++) {
		char name[24];

		(void)snprintf(name, sizeof(name), "b%zu", i);
		r = attach_tree(t->mounts[i], dirfd, p->mount_point, name, &sources[i], f);
	}
	if (r == 0 && layers) {
		pl->upper = path_join(layers, "u");
		pl->work = path_join(layers, "w");
		if (!pl->upper || !pl->work)
			r = fault_errno(f, ENOMEM, "session");
	}
	if (r == 0 && layers && p->repository) {
		pl->repository_upper = path_join(layers, SESSION_REPOSITORY "/" SESSION_UPPER_DIR);
		pl->repository_work = path_join(layers, SESSION_REPOSITORY "/w");
		if (!pl->repository_upper || !pl->repository_work)
			r = fault_errno(f, ENOMEM, "session");
	}
	return r;
}

static int serve_as_root(const struct run_prepare *p, int dirfd, struct placement *pl, struct fault *f)
{
	_cleanup_free_ char *layers = path_join(p->mount_point, "l");

	if (!profile_is_fuse(p->subject->profile))
		return 0;
	return layers ? run_prepare_overlay(dirfd, p->mount_point, layers, p->subject, pl, f)
		      : fault_errno(f, ENOMEM, "session");
}

int run_prepare_as_root(const struct run_prepare *p, struct placement *pl, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF;
	struct trees t;
	int r;

	r = worktree_leave_host(f);
	if (r == 0)
		r = clone_trees(p, pl, &t, f);
	seam("trees-cloned");
	if (r == 0)
		r = worktree_mount_tmpfs(p->mount_point, &dirfd, f);
	if (r == 0)
		r = attach_trees(p, dirfd, &t, pl, f);
	seam("worktree-mounted");
	if (r == 0)
		r = run_prepare_sealed(dirfd, p->mount_point, p->subject, pl, f);
	if (r == 0)
		r = serve_as_root(p, dirfd, pl, f);
	return r < 0 ? r : run_prepare_rootfs(dirfd, p->mount_point, p->subject, pl, f);
}
