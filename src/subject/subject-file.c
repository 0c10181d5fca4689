/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "subject/subject-build.h"
#include "subject/subject.h"

struct subject_file subject_file_of(const struct stat *st)
{
	return (struct subject_file){ .device = st->st_dev,
				      .inode = st->st_ino,
				      .type = st->st_mode & S_IFMT };
}

static int compare(const struct subject_file *file, const struct stat *st, const char *path, struct fault *f)
{
	if (S_ISLNK(st->st_mode))
		return fault_set(f, ELOOP, "writable '%s' was replaced by a symbolic link", path);
	if (st->st_dev != file->device || st->st_ino != file->inode || (st->st_mode & S_IFMT) != file->type)
		return fault_set(f, EPERM,
				 "writable '%s' was replaced after it was checked: restore it, or retry",
				 path);
	return 0;
}

int subject_require_file(const struct subject_file *file, int fd, const char *path, struct fault *f)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "writable '%s'", path);
	return compare(file, &st, path, f);
}

static int require_path(const struct subject_file *file, const char *path, struct fault *f)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return fault_errno(f, errno, "writable '%s'", path);
	return compare(file, &st, path, f);
}

int subject_require_sources(const struct subject *s, struct fault *f)
{
	int r = 0;

	if (s->profile->workspace == PROFILE_WORKSPACE_RW)
		r = require_path(&s->worktree_file, s->worktree, f);
	for (size_t i = 0; r >= 0 && i < s->n_mounts; i++)
		if (s->mounts[i].kind != SUBJECT_MOUNT_TMPFS && (s->mounts[i].rw || s->mounts[i].exact))
			r = require_path(&s->mounts[i].file, s->mounts[i].source, f);
	return r;
}
