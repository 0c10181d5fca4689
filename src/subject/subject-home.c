/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "state/home-dir.h"
#include "subject/subject-build.h"

#define REMEDY "use --home memory"

/* The mount is the directory that is locked and whose stamp was checked, and not another one under its name. */
static int require_same(const struct home_dir *h, const struct subject_mount *m, struct fault *f)
{
	struct stat st;

	if (fstat(h->home_fd, &st) < 0)
		return fault_errno(f, errno, "home '%s'", h->home);
	if (st.st_dev == m->file.device && st.st_ino == m->file.inode)
		return 0;
	return fault_set(f, EBUSY, "'%s' was replaced while it was opened: try again", h->home);
}

/* A mount point in it would be an entry of an earlier run. */
static int require_no_target(const struct subject *s, struct fault *f)
{
	for (size_t i = 0; i < s->n_mounts; i++)
		if (path_is_below(s->mounts[i].target, s->home) && !str_eq(s->mounts[i].target, s->home))
			return fault_set(
				f, EPERM,
				"cannot mount on '%s': it is in the kept home, whose entries earlier "
				"runs wrote; choose another target, or " REMEDY,
				s->mounts[i].target);
	return 0;
}

int subject_add_home(struct subject *s, struct fault *f)
{
	const struct home_dir *h = s->kept_home;
	struct subject_mount *m;
	int r;

	if (subject_find_mount(s, s->home) || path_is_below(s->home, subject_work_target(s)))
		return fault_set(f, EEXIST, "two mounts at '%s': one is the kept home; " REMEDY, s->home);
	/* Before a path of the host is made of such a target. */
	r = require_no_target(s, f);
	if (r < 0)
		return r;
	r = subject_add_bind(s, h->home, s->home, true, true, f);
	if (r < 0)
		return r;
	m = subject_find_mount(s, s->home);
	m->disposable = h->disposable;
	return require_same(h, m, f);
}

/* A mount of the host in it is not part of it. */
int subject_require_home(const struct subject *s, struct fault *f)
{
	if (!s->kept_home)
		return 0;
	for (size_t i = 0; i < s->n_mounts; i++)
		if (s->mounts[i].source && home_dir_is_visible(s->kept_home, s->mounts[i].source) &&
		    !str_eq(s->mounts[i].target, s->home))
			return fault_set(
				f, EXDEV,
				"'%s' in the kept home would be mounted on '%s', too: umount it, or omit "
				"the option that names it",
				s->mounts[i].source, s->mounts[i].target);
	return require_no_target(s, f);
}
