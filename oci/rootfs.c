/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "core/placement.h"
#include "oci/rootfs-etc.h"

/*
 * The tree is private to the caller until this returns, and every symlink in it was made here: plain relative paths
 * below the descriptor are safe.
 */

static int give(const struct rootfs *r, const char *path, struct fault *f)
{
	if (!r->chown)
		return 0;
	if (fchownat(r->dirfd, path, r->uid, r->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return fault_errno(f, errno, "chown '%s' in the new root", path);
	return 0;
}

static int make_parent(const struct rootfs *r, const char *path, struct fault *f)
{
	_cleanup_free_ char *parent = NULL;
	const char *slash = strrchr(path, '/');

	if (!slash)
		return 0;
	parent = strndup(path, (size_t)(slash - path));
	if (!parent)
		return fault_errno(f, ENOMEM, "mkdir '%s' in the new root", path);
	return rootfs_make_dir(r, parent, f);
}

int rootfs_make_dir(const struct rootfs *r, const char *path, struct fault *f)
{
	int ret;

	if (mkdirat(r->dirfd, path, 0755) == 0)
		return give(r, path, f);
	if (errno == EEXIST)
		return 0;
	if (errno != ENOENT)
		return fault_errno(f, errno, "mkdir '%s' in the new root", path);
	ret = make_parent(r, path, f);
	if (ret < 0)
		return ret;
	if (mkdirat(r->dirfd, path, 0755) < 0)
		return fault_errno(f, errno, "mkdir '%s' in the new root", path);
	return give(r, path, f);
}

int rootfs_make_file(const struct rootfs *r, const char *path, const char *text, size_t len, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	int ret;

	ret = make_parent(r, path, f);
	if (ret < 0)
		return ret;
	fd = openat(r->dirfd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return fault_errno(f, errno, "create '%s' in the new root", path);
	if (r->chown && fchown(fd, r->uid, r->gid) < 0)
		return fault_errno(f, errno, "chown '%s' in the new root", path);
	return len ? fd_write_all(fd, text, len, f) : 0;
}

int rootfs_make_link(const struct rootfs *r, const char *path, const char *text, struct fault *f)
{
	int ret = make_parent(r, path, f);

	if (ret < 0)
		return ret;
	if (symlinkat(text, r->dirfd, path) < 0)
		return fault_errno(f, errno, "symlink '%s' in the new root", path);
	return give(r, path, f);
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
	/* Runtimes make a missing working directory; in a read-only root it must be there. */
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
	/* One private place for short-lived files is enough: both count against the same limit. */
	if (ret >= 0 && own_var && !rootfs_is_covered(s, "/var/tmp", true))
		ret = rootfs_make_link(r, "var/tmp", "../tmp", f);
	if (ret >= 0 && own_var)
		ret = rootfs_make_dir(r, "run", f);
	if (ret >= 0 && own_var && !rootfs_is_covered(s, "/var/run", true))
		ret = rootfs_make_link(r, "var/run", "../run", f);
	return ret;
}

int rootfs_build(int dirfd, const struct subject *s, uid_t uid, gid_t gid, struct fault *f)
{
	const struct rootfs r = {
		.dirfd = dirfd,
		.uid = uid,
		.gid = gid,
		.chown = uid != geteuid() || gid != getegid(),
	};
	mode_t mask = umask(022);
	int ret;

	ret = r.chown && fchown(dirfd, uid, gid) < 0 ? fault_errno(f, errno, "chown the new root") : 0;
	if (ret >= 0)
		ret = make_points(&r, s, f);
	if (ret >= 0)
		ret = make_links(&r, s, f);
	if (ret >= 0)
		ret = rootfs_make_etc(&r, s, f);
	(void)umask(mask);
	return ret;
}
