/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/bundle/bundle-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/path.h"
#include "layer/layer.h"
#include "subject/placement.h"
#include "oci/bundle/bundle-operands.h"
#include "oci/bundle/bundle-subject.h"
#include "oci/bundle/bundle.h"
#include "oci/bundle/rootfs.h"

#define CONFIG_MAX ((size_t)4 * 1024 * 1024)

static const char *const own_names[] = { "config.json", BUNDLE_SUBJECT,	    "rootfs",
					 "operands",	"custody-hook.err", NULL };

static uint32_t choose_base(const struct stat *st)
{
	uint64_t h = (uint64_t)st->st_ino * UINT64_C(0x9e3779b97f4a7c15) ^
		     (uint64_t)st->st_dev * UINT64_C(0xc2b2ae3d27d4eb4f);

	h ^= h >> 29;
	return BUNDLE_ID_FIRST + (uint32_t)(h % BUNDLE_ID_BLOCKS) * BUNDLE_ID_BLOCK;
}

static bool is_own_name(const char *name)
{
	for (size_t i = 0; own_names[i]; i++)
		if (strcmp(name, own_names[i]) == 0)
			return true;
	return false;
}

/* *RET_EMPTY, and in *RET_FOREIGN the first name that is not part of a bundle; heap. */
static int inspect(int dirfd, bool *ret_empty, char **ret_foreign, struct fault *f)
{
	_cleanup_dir_ DIR *d = NULL;
	struct dirent *e;
	int fd;

	fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		fd_close(fd);
		return fault_errno(f, errno, "read the bundle's directory");
	}
	*ret_empty = true;
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		*ret_empty = false;
		if (is_own_name(e->d_name))
			continue;
		*ret_foreign = strdup(e->d_name);
		return *ret_foreign ? 0 : fault_errno(f, ENOMEM, "bundle");
	}
	return 0;
}

static bool is_marked(int dirfd)
{
	_cleanup_close_ int fd = openat(dirfd, "config.json", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (fd < 0 || fd_read_all(fd, CONFIG_MAX, &text, &len, NULL) < 0)
		return false;
	if (jdoc_parse(text, len, "config.json", NULL, &d, NULL) < 0)
		return false;
	return jdoc_get_string(jdoc_get(d, "annotations"), BUNDLE_MARK) != NULL;
}

static int require_replaceable(int dirfd, const char *dir, bool force, bool *ret_old, struct fault *f)
{
	_cleanup_free_ char *foreign = NULL;
	bool empty = false;
	int r;

	*ret_old = false;
	r = inspect(dirfd, &empty, &foreign, f);
	if (r < 0 || empty)
		return r;
	if (foreign)
		return fault_set(
			f, ENOTEMPTY,
			"'%s' is not empty and not a bundle (it contains '%s'): choose another directory",
			dir, foreign);
	if (!is_marked(dirfd))
		return fault_set(
			f, ENOTEMPTY,
			"'%s' contains a bundle that custody did not write: choose another directory", dir);
	if (!force)
		return fault_set(f, EEXIST, "'%s' contains a bundle: --force replaces it", dir);
	*ret_old = true;
	return 0;
}

/* A user with write access to the directory can change the configuration that root will run. */
static int require_own(const struct stat *st, const char *dir, struct fault *f)
{
	if (st->st_uid != geteuid())
		return fault_set(f, EPERM, "'%s' belongs to uid %u: choose a directory of your own", dir,
				 st->st_uid);
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return fault_set(f, EPERM, "'%s' is writable by other users: chmod go-w '%s'", dir, dir);
	return 0;
}

/* The container resolves its root path with one of its own ids, which have only the permissions of others. */
static int require_reachable(const char *dir, struct fault *f)
{
	_cleanup_free_ char *path = realpath(dir, NULL);
	struct stat st;

	if (!path)
		return fault_errno(f, errno, "bundle '%s'", dir);
	for (char *end = path + strlen(path); end > path; end = strrchr(path, '/')) {
		*end = '\0';
		if (stat(path[0] ? path : "/", &st) < 0)
			return fault_errno(f, errno, "stat '%s', a parent of the bundle", path);
		if (!(st.st_mode & S_IXOTH))
			return fault_set(f, EACCES,
					 "the container's ids cannot search '%s': chmod o+x '%s', or choose "
					 "another directory",
					 path, path);
	}
	return 0;
}

static int place(const struct bundle_request *rq, const struct subject *s, int dirfd, const struct stat *st,
		 struct placement *p, struct fault *f)
{
	*p = (struct placement){
		.portable = true,
		.rootless = geteuid() != 0,
		.uid_base = geteuid(),
		.gid_base = getegid(),
		.n_ids = 1,
		.rootfs = "rootfs",
		.init = rq->init,
		.hook = rq->hook,
		.approve = rq->approve,
		.run = rq->run,
		.report_fd = -1,
		.limits = true,
	};
	if (p->rootless && !(s->layers & LAYER_BIT(LAYER_USER_NS)))
		return fault_set(f, EPERM, "a bundle without a user namespace can only be written by root");
	/* The hook derives the bundle's ids from the directory's owner and group. */
	if (p->rootless && st->st_gid != getegid() && fchown(dirfd, (uid_t)-1, getegid()) < 0)
		return fault_errno(f, errno, "chgrp %u '%s'", getegid(), rq->dir);
	if (p->rootless || !(s->layers & LAYER_BIT(LAYER_USER_NS)))
		return 0;
	p->uid_base = p->gid_base = choose_base(st);
	p->n_ids = BUNDLE_ID_BLOCK;
	return require_reachable(rq->dir, f);
}

static int write_rootfs(int dirfd, const struct subject *s, const struct placement *p, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;

	if (mkdirat(dirfd, "rootfs", 0755) < 0)
		return fault_errno(f, errno, "create 'rootfs'");
	fd = openat(dirfd, "rootfs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open 'rootfs'");
	if (fchmod(fd, 0755) < 0)
		return fault_errno(f, errno, "chmod 'rootfs'");
	return rootfs_build(fd, s, p->uid_base, p->gid_base, true, f);
}

static int fill(int dirfd, const struct subject *s, const struct placement *p, const struct digest_key *key,
		bool old, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf text = { 0 }, subject = { 0 };
	_cleanup_jdoc_ struct jdoc *config = NULL;
	int r;

	/* Before anything is changed: a subject that cannot be written must not destroy the old bundle. */
	r = bundle_config(s, p, &config, f);
	if (r >= 0)
		r = jdoc_write(config, JDOC_PRETTY, &text, f);
	if (r >= 0)
		r = bundle_subject_write(s, p, key, &subject, f);
	for (size_t i = 0; r >= 0 && old && own_names[i]; i++)
		r = path_remove_tree(dirfd, own_names[i], f);
	if (r < 0)
		return r;
	r = write_rootfs(dirfd, s, p, f);
	if (r >= 0)
		/* With the container's ids: the hook mounts it unchanged. */
		r = bundle_write_operands(dirfd, "operands", s, p, f);
	if (r >= 0)
		r = fd_replace_file(dirfd, BUNDLE_SUBJECT, subject.text, subject.len, 0600, f);
	/* It contains values of the environment: readable by the owner only. */
	if (r >= 0)
		r = fd_replace_file(dirfd, "config.json", text.text, text.len, 0600, f);
	if (r < 0) {
		(void)!path_remove_tree(dirfd, "operands", NULL);
		(void)!path_remove_tree(dirfd, "rootfs", NULL);
		(void)!path_remove_tree(dirfd, BUNDLE_SUBJECT, NULL);
	}
	return r;
}

int bundle_write(const struct bundle_request *rq, const struct subject *s, struct fault *f)
{
	bool made = mkdir(rq->dir, 0711) == 0, old = false;
	_cleanup_close_ int fd = -EBADF;
	struct placement p;
	struct stat st;
	int r = 0;

	if (!made && errno != EEXIST)
		return fault_errno(f, errno, "create the directory '%s' (its parent must exist)", rq->dir);
	fd = open(rq->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || (made && fchmod(fd, 0711) < 0) || fstat(fd, &st) < 0)
		r = fault_errno(f, errno, "bundle '%s'", rq->dir);
	if (r >= 0)
		r = require_own(&st, rq->dir, f);
	if (r >= 0)
		r = require_replaceable(fd, rq->dir, rq->force, &old, f);
	if (r >= 0)
		r = place(rq, s, fd, &st, &p, f);
	if (r >= 0)
		r = fill(fd, s, &p, rq->key, old, f);
	if (r < 0 && made)
		(void)rmdir(rq->dir);
	return r;
}
