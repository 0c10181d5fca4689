/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/bundle/rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "layer/init-proto.h"
#include "subject/placement.h"
#include "oci/bundle/rootfs-impl.h"

/*
 * The tree is private to the caller until this returns, and every symlink in it is created here: plain relative paths below
 * the descriptor are safe.
 */

static int make_parent(const struct rootfs *r, const char *path, struct fault *f)
{
	_cleanup_free_ char *parent = NULL;
	const char *slash = strrchr(path, '/');

	if (!slash)
		return fault_errno(f, ENOENT, "create '%s' in the new root", path);
	parent = strndup(path, (size_t)(slash - path));
	if (!parent)
		return fault_errno(f, ENOMEM, "mkdir '%s' in the new root", path);
	return rootfs_make_dir(r, parent, f);
}

int rootfs_make_dir(const struct rootfs *r, const char *path, struct fault *f)
{
	int ret;

	if (r->list)
		return rootfs_list_add(r->list, path, S_IFDIR, NULL, 0, f);
	if (mkdirat(r->dirfd, path, 0755) == 0 || errno == EEXIST)
		return 0;
	if (errno != ENOENT)
		return fault_errno(f, errno, "mkdir '%s' in the new root", path);
	ret = make_parent(r, path, f);
	if (ret < 0)
		return ret;
	if (mkdirat(r->dirfd, path, 0755) < 0)
		return fault_errno(f, errno, "mkdir '%s' in the new root", path);
	return 0;
}

int rootfs_make_file(const struct rootfs *r, const char *path, const char *text, size_t len, struct fault *f)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	_cleanup_close_ int fd = -EBADF;
	int ret;

	if (r->list)
		return rootfs_list_add(r->list, path, S_IFREG, text, len, f);
	fd = openat(r->dirfd, path, flags, 0644);
	if (fd < 0 && errno == ENOENT) {
		ret = make_parent(r, path, f);
		if (ret < 0)
			return ret;
		fd = openat(r->dirfd, path, flags, 0644);
	}
	if (fd < 0)
		return fault_errno(f, errno, "create '%s' in the new root", path);
	return len ? fd_write_all(fd, text, len, f) : 0;
}

int rootfs_make_link(const struct rootfs *r, const char *path, const char *text, struct fault *f)
{
	int ret;

	if (r->list)
		return rootfs_list_add(r->list, path, S_IFLNK, text, strlen(text), f);
	ret = symlinkat(text, r->dirfd, path);
	if (ret < 0 && errno == ENOENT) {
		ret = make_parent(r, path, f);
		if (ret < 0)
			return ret;
		ret = symlinkat(text, r->dirfd, path);
	}
	return ret < 0 ? fault_errno(f, errno, "symlink '%s' in the new root", path) : 0;
}

bool rootfs_is_covered(const struct subject *s, const char *target, bool or_at)
{
	const char *work = subject_work_target(s);

	for (size_t i = 0; i < s->n_mounts; i++)
		if (path_is_below(target, s->mounts[i].target) &&
		    (or_at || strcmp(target, s->mounts[i].target) != 0))
			return true;
	return path_is_below(target, work) && (or_at || strcmp(target, work) != 0);
}

static int make_point(const struct rootfs *r, const struct subject *s, const char *target, bool is_dir,
		      struct fault *f)
{
	if (rootfs_is_covered(s, target, false))
		return 0;
	return is_dir ? rootfs_make_dir(r, target + 1, f) : rootfs_make_file(r, target + 1, NULL, 0, f);
}

static int make_points(const struct rootfs *r, const struct subject *s, struct fault *f)
{
	int ret;

	ret = rootfs_make_dir(r, "proc", f);
	if (ret >= 0)
		ret = rootfs_make_dir(r, "dev", f);
	for (size_t i = 0; ret >= 0 && i < s->n_mounts; i++)
		ret = make_point(r, s, s->mounts[i].target, s->mounts[i].is_dir, f);
	if (ret >= 0)
		ret = make_point(r, s, subject_work_target(s), true, f);
	if (ret >= 0 && s->profile->process_init)
		ret = rootfs_make_file(r, &INIT_PATH[1], NULL, 0, f);
	if (ret >= 0 && subject_has_broker(s))
		ret = rootfs_make_file(r, &CALL_PATH[1], NULL, 0, f);
	if (ret >= 0 && s->profile->process_init && r->portable)
		ret = rootfs_make_dir(r, &INIT_GATE_DIR[1], f);
	if (ret >= 0 && s->profile->workspace == PROFILE_WORKSPACE_RW && operand_needs_lower(s))
		ret = rootfs_make_dir(r, &OPERAND_DIR[1], f);
	if (ret >= 0 && subject_has_trees(s))
		ret = rootfs_make_dir(r, &EMPTY_DIR[1], f);
	/* Runtimes create a missing working directory; in a read-only root it must exist. */
	if (ret >= 0 && strcmp(s->cwd, "/") != 0 && !rootfs_is_covered(s, s->cwd, true))
		ret = rootfs_make_dir(r, s->cwd + 1, f);
	return ret;
}

static int make_links(const struct rootfs *r, const struct subject *s, struct fault *f)
{
	bool own_var = !rootfs_is_covered(s, "/var", true);
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < s->n_links; i++)
		ret = rootfs_make_link(r, s->links[i].target + 1, s->links[i].text, f);
	/* One private directory for temporary files is enough: both count against the same limit. */
	if (ret >= 0 && own_var && !rootfs_is_covered(s, "/var/tmp", true))
		ret = rootfs_make_link(r, "var/tmp", "../tmp", f);
	if (ret >= 0 && own_var)
		ret = rootfs_make_dir(r, "run", f);
	if (ret >= 0 && own_var && !rootfs_is_covered(s, "/var/run", true))
		ret = rootfs_make_link(r, "var/run", "../run", f);
	return ret;
}

static int build(const struct rootfs *r, const struct subject *s, struct fault *f)
{
	int ret;

	ret = make_points(r, s, f);
	if (ret >= 0)
		ret = make_links(r, s, f);
	if (ret >= 0)
		ret = rootfs_make_etc(r, s, f);
	return ret;
}

/*
 * With the ids of the future owner: no chown is needed afterwards, and only world-readable files of the host can be copied.
 * Only the file system ids change, so that processes of that owner cannot signal this one.
 */
static int build_as(const struct rootfs *r, const struct subject *s, uid_t uid, gid_t gid, struct fault *f)
{
	const bool other = uid != geteuid() || gid != getegid();
	mode_t mask;
	int ret;

	if (other) {
		/* The group first: after the uid has changed it cannot be set. */
		(void)setfsgid(gid);
		(void)setfsuid(uid);
		if ((uid_t)setfsuid((uid_t)-1) != uid || (gid_t)setfsgid((gid_t)-1) != gid) {
			(void)setfsuid(geteuid());
			(void)setfsgid(getegid());
			return fault_set(f, EPERM, "create the new root as uid %u: not permitted", uid);
		}
	}
	mask = umask(022);
	ret = build(r, s, f);
	(void)umask(mask);
	if (other) {
		(void)setfsuid(geteuid());
		(void)setfsgid(getegid());
	}
	return ret;
}

int rootfs_build(int dirfd, const struct subject *s, uid_t uid, gid_t gid, bool portable, struct fault *f)
{
	const struct rootfs r = { .dirfd = dirfd, .portable = portable };
	const bool other = uid != geteuid() || gid != getegid();

	if (other && fchown(dirfd, uid, gid) < 0)
		return fault_errno(f, errno, "chown the new root to uid %u", uid);
	return build_as(&r, s, uid, gid, f);
}

int rootfs_list(struct rootfs_list *l, const struct subject *s, uid_t uid, gid_t gid, struct fault *f)
{
	const struct rootfs r = { .dirfd = -EBADF, .list = l, .portable = true };

	return build_as(&r, s, uid, gid, f);
}
