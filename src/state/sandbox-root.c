/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/sandbox-root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "state/disposable-dir.h"
#include "state/file-owners.h"
#include "state/state-version.h"

#define TRIES 16
#define MODE 0700
/* Where commands with several ids work; the root itself is closed. */
#define WORKSPACE_SHARED 0777
#define TMP_SHARED 01777

bool sandbox_name_is_valid(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n <= SANDBOX_NAME_MAX && name[0] != '.' &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-")] == '\0';
}

int sandbox_name_require(const char *name, struct fault *f)
{
	if (sandbox_name_is_valid(name))
		return 0;
	return fault_set(
		f, EINVAL,
		"'%s' is not a valid sandbox root name: lower case letters, digits, '.', '_' and '-', no "
		"leading dot, at most %d",
		name, SANDBOX_NAME_MAX);
}

void sandbox_root_free(struct sandbox_root *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_pins; i++)
		(void)fd_close(r->pins[i]);
	free(r->pins);
	(void)fd_close(r->workspace_fd);
	(void)fd_close(r->tmp_fd);
	(void)fd_close(r->logs_fd);
	/* Last: closing it releases the lock. */
	(void)fd_close(r->fd);
	free(r->name);
	free(r->path);
	free(r->workspace);
	free(r->tmp);
	free(r);
}

static int fd_path(int fd, char **ret, struct fault *f)
{
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)], text[4096];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, text, sizeof(text));
	if (n < 0 || (size_t)n == sizeof(text))
		return fault_errno(f, n < 0 ? errno : ENAMETOOLONG, "find the path of '%s'", link);
	text[n] = '\0';
	*ret = strdup(text);
	return *ret ? 0 : fault_errno(f, ENOMEM, "sandbox root");
}

/* --- one directory ------------------------------------------------------------------------------------------------- */

/* Reports the object that exists instead of a directory. */
static int refuse_other(int parent, const char *name, const char *path, int code, struct fault *f)
{
	struct stat st;

	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fault_errno(f, code, "open '%s'", path);
	if (S_ISLNK(st.st_mode))
		return fault_set(f, ELOOP,
				 "'%s' is a symbolic link: rm '%s', the next run creates the "
				 "directory",
				 path, path);
	if (!S_ISDIR(st.st_mode))
		return fault_set(f, ENOTDIR, "'%s' is not a directory: move it away, the next run creates it",
				 path);
	return fault_errno(f, code, "open '%s'", path);
}

/*
 * A payload owns its working directory inside and may chmod it. FD is O_PATH: chmod goes through its /proc
 * link.
 */
static int repair_mode(int fd, mode_t mode, const char *path, struct fault *f)
{
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (chmod(link, mode) < 0)
		return fault_errno(f, errno, "set the mode of '%s' to %04o", path, (unsigned int)mode);
	return 0;
}

/* MODE that it shall have; IDS that a command may have given it to, NULL: none. */
static int open_part(int parent, const char *name, const char *path, bool make, bool repair, mode_t mode,
		     const struct id_map *ids, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int opened, r = 0;

	if (make && mkdirat(parent, name, MODE) < 0 && errno != EEXIST)
		return fault_errno(f, errno, "make '%s'", path);
	fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return fault_errno(f, ENOENT, "open '%s'", path);
	if (fd < 0)
		return refuse_other(parent, name, path, errno, f);
	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "stat '%s'", path);
	if (!file_owners_is_own(ids, st.st_uid))
		return fault_set(f, EPERM,
				 "'%s' belongs to uid %u, not to you: chown -h %u:%u '%s', or rename it",
				 path, (unsigned int)st.st_uid, (unsigned int)geteuid(),
				 (unsigned int)getegid(), path);
	if (repair && st.st_uid != geteuid())
		r = file_owners_take(parent, name, ids, f);
	if (r == 0 && repair && (st.st_mode & 07777) != mode)
		r = repair_mode(fd, mode, path, f);
	if (r < 0)
		return r;
	opened = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (opened < 0 && errno == EACCES && !repair)
		return fault_set(f, EACCES,
				 "'%s' is not readable: chmod 0700 '%s', or let the next run repair it", path,
				 path);
	return opened < 0 ? fault_errno(f, errno, "open '%s'", path) : opened;
}

static int open_named(const struct sandbox_root *r, const char *name, bool repair, mode_t shared, int *ret,
		      struct fault *f)
{
	const bool is_shared = id_map_is_set(&r->ids) && shared;
	_cleanup_free_ char *path = path_join(r->path, name);
	int fd;

	if (!path)
		return fault_errno(f, ENOMEM, "sandbox root");
	fd = open_part(r->fd, name, path, repair, repair, is_shared ? shared : MODE,
		       is_shared ? &r->ids : NULL, f);
	if (fd == -ENOENT)
		return fault_set(f, ENOENT, "'%s' is missing: the next run in sandbox root '%s' creates it",
				 path, r->name);
	if (fd < 0)
		return fd;
	*ret = fd;
	return 0;
}

/* --- the root itself ------------------------------------------------------------------------------------------------ */

static bool is_same(int dirfd, const char *name, int fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstatat(dirfd, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int lock(int fd, const char *name, enum sandbox_use use, struct fault *f)
{
	if (use == SANDBOX_LOOK)
		return 0;
	if (flock(fd, (use == SANDBOX_RESET ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return fault_errno(f, errno, "lock sandbox root '%s'", name);
	if (use != SANDBOX_RESET)
		return fault_set(f, EBUSY, "sandbox root '%s' is being reset: retry when the reset is done",
				 name);
	return fault_set(f, EBUSY,
			 "a session is running or starting in sandbox root '%s': wait for it to exit, or "
			 "'custody stop' it",
			 name);
}

/* The directory may have been renamed between open and flock: then it is no longer the root of this name. */
static int open_locked(int sandboxes, const char *name, const char *path, enum sandbox_use use,
		       struct fault *f)
{
	for (int i = 0; i < TRIES; i++) {
		_cleanup_close_ int fd = open_part(sandboxes, name, path, use == SANDBOX_RUN,
						   use != SANDBOX_LOOK, MODE, NULL, f);
		int r;

		if (fd == -ENOENT)
			return fault_set(
				f, ENOENT,
				"sandbox root '%s' ('%s') does not exist: the first run in it creates it",
				name, path);
		if (fd < 0)
			return fd;
		r = lock(fd, name, use, f);
		if (r < 0)
			return r;
		if (is_same(sandboxes, name, fd))
			return TAKE_FD(fd);
	}
	return fault_set(f, EAGAIN, "sandbox root '%s' was replaced %d times while it was opened", name,
			 TRIES);
}

static int open_sandboxes(const struct dirs *d, enum sandbox_use use, struct fault *f)
{
	_cleanup_close_ int state = -EBADF;
	int fd, r;

	if (use == SANDBOX_RUN) {
		state = state_open(d, f);
		return state < 0 ? state : dirs_open_own(d->sandboxes, MODE, f);
	}
	r = state_require(d, f);
	if (r < 0)
		return r;
	fd = open(d->sandboxes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", d->sandboxes);
	r = dirs_require_own(fd, d->sandboxes, f);
	if (r < 0)
		(void)fd_close(fd);
	return r < 0 ? r : fd;
}

/* Concurrent first uses write the same text. */
static int write_stamp(int fd, enum lane lane, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_printf(&b, "%s\n", lane_name(lane));
	return b.broken ? fault_errno(f, ENOMEM, "stamp")
			: fd_replace_file(fd, LANE_STAMP, b.text, b.len, 0600, f);
}

/* A root copied from the other lane has the stamp of that lane. */
static int require_lane(const struct sandbox_root *r, const struct dirs *d, enum sandbox_use use,
			struct fault *f)
{
	enum lane lane;
	int e = lane_read_stamp(r->fd, r->path, &lane, f);

	if (e < 0)
		return e;
	if (e == 0)
		return use == SANDBOX_LOOK ? 0 : write_stamp(r->fd, d->lane, f);
	return lane_require_name(d->lane, lane_name(lane), r->path, f);
}

static int fill(struct sandbox_root *r, const struct dirs *d, enum sandbox_use use, struct fault *f)
{
	bool repair = use != SANDBOX_LOOK;
	int e;

	e = fd_path(r->fd, &r->path, f);
	if (e == 0)
		e = require_lane(r, d, use, f);
	if (e == 0)
		e = fault_wrap(f, file_owners_read(r->fd, &r->ids, f), "sandbox root '%s'", r->name);
	if (e == 0)
		e = open_named(r, SANDBOX_WORKSPACE, repair, WORKSPACE_SHARED, &r->workspace_fd, f);
	if (e == 0)
		e = open_named(r, SANDBOX_TMP, repair, TMP_SHARED, &r->tmp_fd, f);
	if (e == 0)
		e = open_named(r, SANDBOX_LOGS, repair, 0, &r->logs_fd, f);
	if (e < 0)
		return e;
	r->workspace = path_join(r->path, SANDBOX_WORKSPACE);
	r->tmp = path_join(r->path, SANDBOX_TMP);
	return r->workspace && r->tmp ? 0 : fault_errno(f, ENOMEM, "sandbox root");
}

int sandbox_root_open(const struct dirs *d, const char *name, enum sandbox_use use, struct sandbox_root **ret,
		      struct fault *f)
{
	_cleanup_sandbox_root_ struct sandbox_root *r = NULL;
	_cleanup_close_ int sandboxes = -EBADF;
	_cleanup_free_ char *path = path_join(d->sandboxes, name);
	int e;

	e = sandbox_name_require(name, f);
	if (e < 0)
		return e;
	r = calloc(1, sizeof(*r));
	if (!r || !path)
		return fault_errno(f, ENOMEM, "sandbox root");
	*r = (struct sandbox_root){
		.fd = -EBADF, .workspace_fd = -EBADF, .tmp_fd = -EBADF, .logs_fd = -EBADF
	};
	r->name = strdup(name);
	if (!r->name)
		return fault_errno(f, ENOMEM, "sandbox root");
	sandboxes = open_sandboxes(d, use, f);
	if (sandboxes == -ENOENT)
		return fault_set(f, ENOENT,
				 "sandbox root '%s' ('%s') does not exist: the first run in it creates it",
				 name, path);
	if (sandboxes < 0)
		return sandboxes;
	r->fd = open_locked(sandboxes, name, path, use, f);
	if (r->fd < 0)
		return r->fd;
	e = fill(r, d, use, f);
	if (e < 0)
		return e;
	*ret = TAKE_PTR(r);
	return 0;
}

/* --- subordinate ids --------------------------------------------------------------------------------------------------- */

int sandbox_root_share(const struct sandbox_root *r, const struct id_map *ids, struct fault *f)
{
	int e = file_owners_note(r->fd, ids, f);

	if (e == 0)
		e = repair_mode(r->workspace_fd, WORKSPACE_SHARED, r->workspace, f);
	if (e == 0)
		e = repair_mode(r->tmp_fd, TMP_SHARED, r->tmp, f);
	return fault_wrap(f, e, "sandbox root '%s'", r->name);
}

int sandbox_root_return(const struct sandbox_root *r, struct fault *f)
{
	return fault_wrap(f, file_owners_return(r->fd, f), "sandbox root '%s'", r->name);
}

/* --- disposable ------------------------------------------------------------------------------------------------------ */

int sandbox_root_make_disposable(const struct dirs *d, const char *name, struct fault *f)
{
	static const char *const parts[] = { SANDBOX_WORKSPACE, SANDBOX_TMP, NULL };
	_cleanup_close_ int sandboxes = -EBADF;
	int r = sandbox_name_require(name, f);

	if (r < 0)
		return r;
	sandboxes = open_sandboxes(d, SANDBOX_RUN, f);
	if (sandboxes < 0)
		return sandboxes;
	r = disposable_dir_make(sandboxes, name, parts, d->lane, f);
	return r < 0 ? r : 0;
}

int sandbox_root_check_stamp(struct sandbox_root *r, enum lane lane, struct fault *f)
{
	int work, tmp;

	work = disposable_dir_check(r->fd, r->path, SANDBOX_WORKSPACE, r->workspace_fd, lane, f);
	if (work <= 0)
		return work;
	tmp = disposable_dir_check(r->fd, r->path, SANDBOX_TMP, r->tmp_fd, lane, f);
	if (tmp < 0)
		return tmp;
	r->disposable = tmp;
	return 0;
}

/* --- paths in it ----------------------------------------------------------------------------------------------------- */

static int refuse_outside(const struct sandbox_root *r, const char *path, const char *how, struct fault *f)
{
	return fault_set(f, EXDEV, "'%s' leads out of sandbox root '%s' (%s): %s", path, r->name, r->path,
			 how);
}

static int require_one_name(const struct sandbox_root *r, int fd, const char *path, struct fault *f)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "stat '%s'", path);
	if (!S_ISDIR(st.st_mode) && st.st_nlink != 1)
		return refuse_outside(r, path, "it has more than one hard link", f);
	return 0;
}

/* A mount below a root is not part of it, although its path is. */
static int require_own_mount(const struct sandbox_root *r, int dirfd, int fd, const char *path,
			     struct fault *f)
{
	struct statx a, b;

	if (dirfd != r->workspace_fd && dirfd != r->tmp_fd)
		return 0;
	if (statx(dirfd, "", AT_EMPTY_PATH, STATX_MNT_ID, &a) < 0 ||
	    statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &b) < 0)
		return fault_errno(f, errno, "stat '%s'", path);
	if ((a.stx_mask & b.stx_mask & STATX_MNT_ID) && a.stx_mnt_id != b.stx_mnt_id)
		return refuse_outside(r, path, "it is a mount point", f);
	return 0;
}

int sandbox_root_resolve(const struct sandbox_root *r, int dirfd, const char *path, int flags,
			 struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	_cleanup_close_ int fd = -EBADF;
	int e;

	if (path[0] == '/')
		return refuse_outside(r, path, "name it relative to the workspace", f);
	fd = path_open_beneath(dirfd, *path ? path : ".", flags | O_CLOEXEC, 0, &why);
	if (fd == -EXDEV || fd == -ELOOP || fd == -EAGAIN)
		return refuse_outside(r, path, "through '..' or a symbolic link", f);
	if (fd < 0)
		return fault_set(f, -fd, "'%s' in sandbox root '%s' (%s): %s", path, r->name, r->path,
				 strerror(-fd));
	e = require_one_name(r, fd, path, f);
	if (e == 0)
		e = require_own_mount(r, dirfd, fd, path, f);
	return e < 0 ? e : TAKE_FD(fd);
}

int sandbox_root_pin(struct sandbox_root *r, const char *path, char **ret_path, struct fault *f)
{
	_cleanup_close_ int fd = sandbox_root_resolve(r, r->workspace_fd, path, O_PATH, f);
	_cleanup_free_ char *real = NULL;
	int *grown, e;

	if (fd < 0)
		return fd;
	e = fd_path(fd, &real, f);
	if (e < 0)
		return e;
	/* Renamed or removed between the two calls: its current path is not in the workspace. */
	if (!path_is_below(real, r->workspace))
		return refuse_outside(r, path, "it was moved concurrently", f);
	grown = reallocarray(r->pins, r->n_pins + 1, sizeof(*grown));
	if (!grown)
		return fault_errno(f, ENOMEM, "sandbox root");
	r->pins = grown;
	r->pins[r->n_pins++] = TAKE_FD(fd);
	*ret_path = TAKE_PTR(real);
	return r->pins[r->n_pins - 1];
}

bool sandbox_root_is_visible(const struct sandbox_root *r, const char *path)
{
	return path_is_below(path, r->workspace) || path_is_below(path, r->tmp);
}

int sandbox_name_of(const struct dirs *d, const char *worktree, char **ret, struct fault *f)
{
	_cleanup_free_ char *real = realpath(d->sandboxes, NULL), *name = NULL;
	const char *rest;
	size_t n;

	if (!real && errno == ENOMEM)
		return fault_errno(f, ENOMEM, "sandbox root");
	if (!real || !path_is_below(worktree, real) || str_eq(worktree, real))
		return 0;
	rest = worktree + strlen(real) + 1;
	n = strcspn(rest, "/");
	name = strndup(rest, n);
	if (!name)
		return fault_errno(f, ENOMEM, "sandbox root");
	rest += n;
	if (!sandbox_name_is_valid(name) || !path_is_below(rest, "/" SANDBOX_WORKSPACE))
		return 0;
	*ret = TAKE_PTR(name);
	return 1;
}
