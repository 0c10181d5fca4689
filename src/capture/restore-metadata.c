/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/restore-metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/str.h"

/* PREFIX: only names that begin with it. */
static int set_xattrs(int fd, const struct manifest_entry *e, const char *path, const char *prefix,
		      struct fault *f)
{
	for (size_t i = 0; i < e->n_xattrs; i++) {
		const struct manifest_xattr *x = e->xattrs + i;
		int r;

		if (!str_starts(x->name, prefix))
			continue;
		r = path ? lsetxattr(path, x->name, x->value, x->len, 0)
			 : fsetxattr(fd, x->name, x->value, x->len, 0);

		if (r < 0)
			return fault_errno(f, errno, "'%s': set attribute '%s'", e->path, x->name);
	}
	return 0;
}

static unsigned int wanted_mode(bool exact, const struct manifest_entry *e)
{
	return exact ? e->mode : e->mode & 0777;
}

static int set_time(int fd, const struct manifest_entry *e, struct fault *f)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
					   { .tv_sec = e->mtime_s, .tv_nsec = e->mtime_ns } };

	return futimens(fd, times) < 0 ? fault_errno(f, errno, "'%s': set its time", e->path) : 0;
}

/* Owner first: chown clears set-id bits. */
int restore_metadata_set(bool exact, int fd, const struct manifest_entry *e, struct fault *f)
{
	int r = 0;

	if (exact && fchown(fd, (uid_t)e->uid, (gid_t)e->gid) < 0)
		return fault_errno(f, errno, "'%s': set its owner to %llu:%llu", e->path,
				   (unsigned long long)e->uid, (unsigned long long)e->gid);
	if (fchmod(fd, wanted_mode(exact, e)) < 0)
		return fault_errno(f, errno, "'%s': set its mode", e->path);
	if (exact)
		r = set_xattrs(fd, e, NULL, "", f);
	return r < 0 ? r : set_time(fd, e, f);
}

int restore_metadata_set_root(bool exact, int fd, const struct manifest_entry *e, struct fault *f)
{
	int r = exact ? set_xattrs(fd, e, NULL, "user.", f) : 0;

	return r < 0 ? r : set_time(fd, e, f);
}

int restore_metadata_set_at(bool exact, int dirfd, const char *name, const struct manifest_entry *e,
			    struct fault *f)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
					   { .tv_sec = e->mtime_s, .tv_nsec = e->mtime_ns } };
	char path[sizeof("/proc/self/fd//") + 3 * sizeof(int) + 256];
	int r;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dirfd, name);
	if (exact && fchownat(dirfd, name, (uid_t)e->uid, (gid_t)e->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return fault_errno(f, errno, "'%s': set its owner", e->path);
	if (e->type != MANIFEST_LINK && fchmodat(dirfd, name, wanted_mode(exact, e), AT_SYMLINK_NOFOLLOW) < 0)
		return fault_errno(f, errno, "'%s': set its mode", e->path);
	r = exact ? set_xattrs(-EBADF, e, path, "", f) : 0;
	if (r < 0)
		return r;
	return utimensat(dirfd, name, times, AT_SYMLINK_NOFOLLOW) < 0
		       ? fault_errno(f, errno, "'%s': set its time", e->path)
		       : 0;
}
