/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "subject/own-dirs.h"
#include "subject/subject-build.h"

/* custody's own; a mount there would invalidate the proofs. */
static const char *const reserved[] = { "/proc", "/sys", "/dev", "/run/custody", NULL };

struct subject_mount *subject_find_mount(const struct subject *s, const char *target)
{
	for (size_t i = 0; i < s->n_mounts; i++)
		if (strcmp(s->mounts[i].target, target) == 0)
			return &s->mounts[i];
	return NULL;
}

static int require_mountable(const char *target, struct fault *f)
{
	if (strcmp(target, "/") == 0)
		return fault_set(f, EINVAL,
				 "cannot mount on '/': choose a root directory (root.path) instead");
	for (size_t i = 0; reserved[i]; i++)
		if (path_is_below(target, reserved[i]) || path_is_below(reserved[i], target))
			return fault_set(f, EINVAL, "cannot mount on '%s': custody uses '%s' itself", target,
					 reserved[i]);
	return 0;
}

static int add(struct subject *s, struct subject_mount *m, struct fault *f)
{
	struct subject_mount *grown;
	int r = require_mountable(m->target, f);

	if (r < 0)
		return r;
	if (subject_find_mount(s, m->target))
		return fault_set(f, EEXIST, "two mounts at '%s': keep one", m->target);
	if (s->n_mounts >= SUBJECT_MOUNTS_MAX)
		return fault_set(f, E2BIG, "more than %d mounts", SUBJECT_MOUNTS_MAX);
	grown = reallocarray(s->mounts, s->n_mounts + 1, sizeof(*grown));
	if (!grown)
		return fault_errno(f, ENOMEM, "mount '%s'", m->target);
	s->mounts = grown;
	s->mounts[s->n_mounts++] = *m;
	*m = (struct subject_mount){ 0 };
	return 0;
}

static void mount_done(struct subject_mount *m)
{
	free(m->source);
	free(m->target);
}

int subject_add_tmpfs(struct subject *s, const char *target, uint64_t size, unsigned int mode,
		      struct fault *f)
{
	_cleanup_(mount_done) struct subject_mount m = {
		.kind = SUBJECT_MOUNT_TMPFS,
		.target = strdup(target),
		.rw = true,
		.is_dir = true,
		.size = size,
		.mode = mode,
	};

	if (!m.target)
		return fault_errno(f, ENOMEM, "mount '%s'", target);
	return add(s, &m, f);
}

bool subject_mount_is_tree(const struct subject *s, const struct subject_mount *m)
{
	static const char *const system_trees[] = { "/usr",   "/bin",	 "/sbin", "/lib", "/lib32",
						    "/lib64", "/libx32", "/etc",  NULL };

	if (m->kind != SUBJECT_MOUNT_BIND || m->rw || !m->is_dir)
		return false;
	if (s->profile->workspace == PROFILE_WORKSPACE_RW && s->worktree &&
	    path_is_below(m->source, s->worktree) && path_is_below(m->target, subject_work_target(s)))
		return false;
	for (size_t i = 0; m->owner_uid == 0 && system_trees[i]; i++)
		if (path_is_below(m->source, system_trees[i]))
			return false;
	return true;
}

bool subject_has_trees(const struct subject *s)
{
	if (s->profile->workspace == PROFILE_WORKSPACE_RO && !operand_needs_lower(s))
		return true;
	for (size_t i = 0; i < s->n_mounts; i++)
		if (subject_mount_is_tree(s, &s->mounts[i]))
			return true;
	return false;
}

/* A socket or a FIFO leads out of the container, whatever the flags of its mount: it counts as writable. */
static int require_channel(const struct subject *s, const char *source, const struct stat *st,
			   struct fault *f)
{
	if (strv_has(s->profile->fs_channels, source))
		return 0;
	return fault_set(
		f, EPERM,
		"'%s' is a %s of the host, which leads out of the container even if it is read-only: "
		"refused unless the profile has \"filesystem\": {\"channels\": [\"%s\"]}",
		source, S_ISSOCK(st->st_mode) ? "socket" : "FIFO", source);
}

int subject_add_bind(struct subject *s, const char *source, const char *target, bool rw, bool idmap,
		     struct fault *f)
{
	_cleanup_(mount_done) struct subject_mount m = {
		.kind = SUBJECT_MOUNT_BIND,
		.source = strdup(source),
		.target = strdup(target),
		.rw = rw,
		.idmap = idmap,
	};
	struct stat st;

	if (!m.source || !m.target)
		return fault_errno(f, ENOMEM, "mount '%s'", target);
	if (!str_is_utf8(source, strlen(source)) || !str_is_utf8(target, strlen(target)))
		return fault_set(f, EILSEQ, "a mount's path is not UTF-8: rename it");
	if (stat(source, &st) < 0)
		return fault_errno(f, errno, "mount source '%s'", source);
	if (S_ISSOCK(st.st_mode) || S_ISFIFO(st.st_mode)) {
		int r = require_channel(s, source, &st, f);

		if (r < 0)
			return r;
		m.rw = true;
	}
	m.is_dir = S_ISDIR(st.st_mode);
	m.owner_uid = st.st_uid;
	m.owner_gid = st.st_gid;
	m.file = subject_file_of(&st);
	return add(s, &m, f);
}

int subject_add_link(struct subject *s, const char *target, const char *text, struct fault *f)
{
	_cleanup_free_ char *t = strdup(target), *x = strdup(text);
	struct subject_link *grown;

	grown = reallocarray(s->links, s->n_links + 1, sizeof(*grown));
	if (grown)
		s->links = grown;
	if (!grown || !t || !x)
		return fault_errno(f, ENOMEM, "link '%s'", target);
	s->links[s->n_links++] = (struct subject_link){ .target = TAKE_PTR(t), .text = TAKE_PTR(x) };
	return 0;
}

/*
 * A bind shows one file system, without the mounts below it: libcrun clones without recursion.  So each mount
 * below a bound directory becomes a bind of its own, with the access of its parent.
 */
static int add_submount(struct subject *s, const struct subject_mount *parent, const char *point,
			struct fault *f)
{
	_cleanup_free_ char *target = NULL;
	struct stat st;

	/* Another user's FUSE mount, or one below a newer mount: not accessible. */
	if (stat(point, &st) < 0)
		return 0;
	target = path_join(parent->target, point + strlen(parent->source) + 1);
	if (!target)
		return fault_errno(f, ENOMEM, "mount '%s'", point);
	if (subject_find_mount(s, target))
		return 0;
	return subject_add_bind(s, point, target, parent->rw, parent->idmap, f);
}

static int add_submounts_at(struct subject *s, size_t n_explicit, const char *point, struct fault *f)
{
	const char *work = subject_work_target(s);
	const struct profile *p = s->profile;
	struct subject_mount tree = { 0 };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n_explicit; i++) {
		struct subject_mount parent = s->mounts[i]; /* the array may move */

		if (parent.kind == SUBJECT_MOUNT_BIND && parent.is_dir && strcmp(point, parent.source) != 0 &&
		    path_is_below(point, parent.source))
			r = add_submount(s, &parent, point, f);
	}
	if (r < 0 || !s->worktree || strcmp(point, s->worktree) == 0 || !path_is_below(point, s->worktree))
		return r;
	tree.source = s->worktree;
	tree.target = (char *)work;
	tree.rw = p->workspace == PROFILE_WORKSPACE_RW;
	tree.idmap = true;
	return add_submount(s, &tree, point, f);
}

static int add_submounts(struct subject *s, struct own_dirs *own, struct fault *f)
{
	_cleanup_own_dirs_ struct own_dirs none = { 0 };
	const struct place_table *mounts;
	const size_t n = s->n_mounts;
	int r = own_dirs_mounts(own ? own : &none, &mounts, f);

	for (size_t i = 0; r >= 0 && i < mounts->n_mounts; i++)
		if (mounts->mounts[i].point[1])
			r = add_submounts_at(s, n, mounts->mounts[i].point, f);
	return r;
}

/* '/' sorts first, so that a parent precedes its children and they precede its siblings. */
static int compare_targets(const void *a, const void *b)
{
	const char *x = ((const struct subject_mount *)a)->target,
		   *y = ((const struct subject_mount *)b)->target;
	unsigned char cx, cy;

	while (*x && *x == *y)
		x++, y++;
	cx = *x == '/' ? 1 : (unsigned char)*x;
	cy = *y == '/' ? 1 : (unsigned char)*y;
	return (cx > cy) - (cx < cy);
}

static int require_no_link(const struct subject *s, const char *target, struct fault *f)
{
	for (size_t i = 0; i < s->n_links; i++)
		if (path_is_below(target, s->links[i].target))
			return fault_set(f, EINVAL, "cannot mount on '%s': '%s' is a symbolic link to '%s'",
					 target, s->links[i].target, s->links[i].text);
	return 0;
}

/* Host directory of the deepest mount above TARGET, and the rest of TARGET below it. */
static const char *find_cover(const struct subject *s, const char *target, const char **ret_rest)
{
	const char *work = subject_work_target(s), *best = NULL, *source = NULL;

	for (size_t i = 0; i < s->n_mounts; i++) {
		const char *t = s->mounts[i].target;

		if (strcmp(t, target) != 0 && path_is_below(target, t) &&
		    (!best || strlen(t) > strlen(best))) {
			best = t;
			source = s->mounts[i].source;
		}
	}
	if (strcmp(work, target) != 0 && path_is_below(target, work) &&
	    (!best || strlen(work) > strlen(best))) {
		best = work;
		/* Mount points that an overlay lacks are created in its upper, which is discarded. */
		source = s->profile->workspace == PROFILE_WORKSPACE_OVERLAY ? NULL : s->worktree;
	}
	*ret_rest = best ? target + strlen(best) + 1 : NULL;
	return source;
}

static int require_point(const struct subject *s, const char *target, bool is_dir, struct fault *f)
{
	const char *rest, *source = find_cover(s, target, &rest);
	_cleanup_free_ char *point = NULL;
	struct stat st;

	if (!source)
		return 0;
	point = path_join(source, rest);
	if (!point)
		return fault_errno(f, ENOMEM, "mount '%s'", target);
	if (stat(point, &st) == 0 && !S_ISDIR(st.st_mode) == !is_dir)
		return 0;
	return fault_set(f, ENOENT,
			 "cannot mount on '%s': create %s '%s' first, because custody does not write there",
			 target, is_dir ? "the directory" : "the file", point);
}

int subject_finish_mounts(struct subject *s, struct own_dirs *own, struct fault *f)
{
	const char *work = subject_work_target(s);
	const struct subject_mount at_work = { .target = (char *)work };
	int r;

	r = add_submounts(s, own, f);
	if (r < 0)
		return r;
	if (subject_find_mount(s, work))
		return fault_set(f, EEXIST, "two mounts at '%s': one is the worktree", work);
	qsort(s->mounts, s->n_mounts, sizeof(*s->mounts), compare_targets);
	while (s->worktree_at < s->n_mounts && compare_targets(&s->mounts[s->worktree_at], &at_work) < 0)
		s->worktree_at++;
	r = require_mountable(work, f);
	if (r >= 0)
		r = require_no_link(s, work, f);
	if (r >= 0)
		r = require_point(s, work, true, f);
	for (size_t i = 0; r >= 0 && i < s->n_mounts; i++) {
		r = require_no_link(s, s->mounts[i].target, f);
		if (r >= 0)
			r = require_point(s, s->mounts[i].target, s->mounts[i].is_dir, f);
	}
	return r;
}
