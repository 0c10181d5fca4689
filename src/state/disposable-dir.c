/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/disposable-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define MODE 0700
#define STAMP_MODE 0600
#define STAMP_MAX ((size_t)4096)
/* Cannot be the name of a sandbox root or of a kept home: those have no leading dot. */
#define TEMP ".disposable"

/* "PART INODE BIRTH\n".  A file system without birth times gives 0. */
static int put_part(struct strbuf *b, const char *part, int part_fd, struct fault *f)
{
	struct statx stx;
	bool born;

	if (statx(part_fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &stx) < 0)
		return fault_errno(f, errno, "stat '%s'", part);
	born = stx.stx_mask & STATX_BTIME;
	strbuf_printf(b, "%s %" PRIu64 " %" PRId64 ".%09" PRIu32 "\n", part, (uint64_t)stx.stx_ino,
		      born ? (int64_t)stx.stx_btime.tv_sec : 0, born ? stx.stx_btime.tv_nsec : 0);
	return b->broken ? fault_errno(f, ENOMEM, "stamp '" DISPOSABLE_STAMP "'") : 0;
}

static int make_part(int fd, const char *part, struct strbuf *b, struct fault *f)
{
	_cleanup_close_ int part_fd = -EBADF;

	if (mkdirat(fd, part, MODE) < 0)
		return fault_errno(f, errno, "make '%s'", part);
	part_fd = openat(fd, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (part_fd < 0)
		return fault_errno(f, errno, "open '%s'", part);
	return put_part(b, part, part_fd, f);
}

/* All of it under the temporary name. */
static int make_temp(int dirfd, const char *const *parts, enum lane lane, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_close_ int fd = -EBADF;
	int r = 0;

	if (mkdirat(dirfd, TEMP, MODE) < 0)
		return fault_errno(f, errno, "make '" TEMP "'");
	fd = openat(dirfd, TEMP, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '" TEMP "'");
	strbuf_printf(&b, "%s\n", lane_name(lane));
	for (size_t i = 0; r == 0 && parts[i]; i++)
		r = make_part(fd, parts[i], &b, f);
	return r < 0 ? r : fd_replace_file(fd, DISPOSABLE_STAMP, b.text, b.len, STAMP_MODE, f);
}

static int make_locked(int dirfd, const char *name, const char *const *parts, enum lane lane, struct fault *f)
{
	struct stat st;
	int r;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (errno != ENOENT)
		return fault_errno(f, errno, "stat '%s'", name);
	/* Under the lock a directory of this name is the rest of a killed process. */
	r = path_remove_tree(dirfd, TEMP, f);
	if (r == 0)
		r = make_temp(dirfd, parts, lane, f);
	if (r == 0 && renameat2(dirfd, TEMP, dirfd, name, RENAME_NOREPLACE) == 0)
		return fsync(dirfd) < 0 ? fault_errno(f, errno, "fsync") : 1;
	/* A run without the stamp made it in the meantime: it does not take the lock. */
	if (r == 0 && errno != EEXIST)
		r = fault_errno(f, errno, "rename '" TEMP "' to '%s'", name);
	(void)!path_remove_tree(dirfd, TEMP, NULL);
	return r;
}

int disposable_dir_make(int dirfd, const char *name, const char *const *parts, enum lane lane,
			struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;

	if (lane != LANE_SANDBOX)
		return fault_set(
			f, LANE_REFUSED,
			"a disposable directory exists in the sandbox lane only: state of lane '%s' is "
			"kept",
			lane_name(lane));
	/* A description of its own: the lock must not be shared with the caller's descriptor. */
	fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "make '%s': open its directory", name);
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return fault_errno(f, errno, "make '%s': lock its directory", name);
	return fault_wrap(f, make_locked(fd, name, parts, lane, f), "make disposable directory '%s'", name);
}

static int refuse(const char *path, const char *why, struct fault *f)
{
	return fault_set(f, EPERM,
			 "the stamp '%s/" DISPOSABLE_STAMP
			 "' is not valid: %s; to keep the content as an ordinary directory: rm "
			 "'%s/" DISPOSABLE_STAMP "'",
			 path, why, path);
}

static int open_stamp(int fd, const char *path, struct fault *f)
{
	_cleanup_close_ int stamp = -EBADF;
	struct stat st;

	stamp = openat(fd, DISPOSABLE_STAMP, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (stamp < 0 && errno == ENOENT)
		return -ENOENT;
	if (stamp < 0 && errno == ELOOP)
		return refuse(path, "it is a symbolic link", f);
	if (stamp < 0)
		return fault_errno(f, errno, "open '%s/" DISPOSABLE_STAMP "'", path);
	if (fstat(stamp, &st) < 0)
		return fault_errno(f, errno, "stat '%s/" DISPOSABLE_STAMP "'", path);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return refuse(path, "it is not a regular file with one link", f);
	if (st.st_uid != geteuid() || (st.st_mode & 07777) != STAMP_MODE)
		return refuse(path, "its owner or its mode changed", f);
	return TAKE_FD(stamp);
}

/* Does TEXT have the line LINE after its first one? */
static bool has_line(const char *text, const char *line)
{
	const char *at = strchr(text, '\n');

	while (at && *++at) {
		if (strncmp(at, line, strlen(line)) == 0)
			return true;
		at = strchr(at, '\n');
	}
	return false;
}

int disposable_dir_check(int fd, const char *path, const char *part, int part_fd, enum lane lane,
			 struct fault *f)
{
	_cleanup_strbuf_ struct strbuf line = { 0 };
	_cleanup_close_ int stamp = open_stamp(fd, path, f);
	_cleanup_free_ char *text = NULL;
	size_t len, n = strlen(lane_name(LANE_SANDBOX));
	int r;

	if (stamp < 0)
		return stamp == -ENOENT ? 0 : stamp;
	r = fd_read_all(stamp, STAMP_MAX, &text, &len, f);
	if (r == 0)
		r = put_part(&line, part, part_fd, f);
	if (r < 0)
		return fault_wrap(f, r, "read '%s/" DISPOSABLE_STAMP "'", path);
	if (lane != LANE_SANDBOX || strncmp(text, lane_name(LANE_SANDBOX), n) != 0 || text[n] != '\n')
		return refuse(path, "only the sandbox lane has disposable directories", f);
	if (strlen(text) != len || !has_line(text, line.text))
		return refuse(path, "it was written for another directory", f);
	return 1;
}
