/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/libcrun/libcrun-confine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "oci/libcrun/libcrun-hold.h"
#include "oci/libcrun/libcrun-target.h"
#include "oci/libcrun/libcrun-wrap.h"

/*
 * Calls of libcrun by which an image, a configuration or a running container can reach a file of the host.  The linker
 * redirects them to this file (--wrap, see local.mk).  Each rule is enforced at the call itself, so a tree that changes
 * after a check does not pass it.
 *
 * 1. MUST NOT change owner or mode of a device or of a file with a name: only of an unnamed pipe (fchown).
 * 2. MUST NOT follow a link that the image put where libcrun opens one name in a directory of the image (openat).
 * 3. MUST NOT let a directory of the host stay open while a path inside is resolved (pivot_root, join).
 * 4. MUST NOT accept a working directory outside of the container's root, by whatever path (chdir).
 *
 * libcrun-target.c has the rules for targets of mounts.
 */

/* Closes the descriptors from FIRST for which MATCHES, but for KEPT.  /proc is the host's in every caller. */
static int close_each(int first, int kept, bool (*matches)(int fd))
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int r;

	if (!dir)
		return -errno;
	for (errno = 0; (entry = readdir(dir)); errno = 0) {
		uint64_t fd;

		if (str_to_u64(entry->d_name, &fd) == 0 && fd <= INT_MAX && (int)fd >= first &&
		    (int)fd != dirfd(dir) && (int)fd != kept && matches((int)fd))
			(void)fd_close((int)fd);
	}
	r = -errno;
	(void)closedir(dir);
	return r;
}

static bool is_directory(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_inherited(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	return flags >= 0 && !(flags & FD_CLOEXEC);
}

int confine_descriptors(int first, struct fault *f)
{
	static const char *const names[] = { "standard input", "standard output", "standard error" };
	int r;

	for (int fd = 0; fd < 3; fd++)
		if (is_directory(fd))
			return fault_set(f, EISDIR,
					 "%s is a directory of the host, from which a process inside could "
					 "leave the container; redirect it",
					 names[fd]);
	/* A number that the caller did not open would be given to a descriptor of our own. */
	for (int fd = 3; fd < first; fd++)
		if (!is_inherited(fd))
			return fault_set(
				f, EBADF,
				"descriptor %d is to be passed to the container but is not open; lower "
				"--preserve-fds (or $LISTEN_FDS)",
				fd);
	r = close_each(first, -EBADF, is_inherited);
	return r < 0 ? fault_errno(f, -r, "close inherited descriptors: '/proc/self/fd'") : 0;
}

/*
 * libcrun gives stdio to the ids of the process, so that it may open /dev/stdout again.  That needs only pipes: a
 * terminal of the container has its owner already, a socket cannot be opened again, and a device or a file of the caller
 * would be the container's to change (CVE-2026-88265; libcrun below 1.24 also for /dev/null).
 */
int __wrap_fchown(int fd, uid_t uid, gid_t gid)
{
	struct statfs fs;

	if (fd > STDERR_FILENO)
		return __real_fchown(fd, uid, gid);
	if (fstatfs(fd, &fs) < 0)
		return -1;
	return fs.f_type == PIPEFS_MAGIC ? __real_fchown(fd, uid, gid) : 0;
}

/*
 * Is stdio the host's null device?  libcrun compares st_rdev only, which is 0 for every file and pipe.
 */
static bool is_null(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

/* Runs inside after pivot_root: stdio that is the host's null device becomes the container's. */
int __wrap_libcrun_reopen_dev_null(libcrun_error_t *err)
{
	_cleanup_close_ int null = -EBADF;

	for (int fd = 0; fd < 3; fd++) {
		if (!is_null(fd))
			continue;
		if (null < 0)
			null = open("/dev/null", O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (null < 0)
			return libcrun_make_error(err, errno, "open /dev/null of the container");
		if (!is_null(null))
			return libcrun_make_error(err, 0,
						  "/dev/null of the container is not the null device");
		if (dup2(null, fd) < 0)
			return libcrun_make_error(err, errno, "replace descriptor %d", fd);
	}
	return 0;
}

/*
 * One name in a directory that the image or a volume may have filled.  Of the calls of 1.8.1 exactly those lack O_CLOEXEC (ours
 * never do), but the one that creates /dev/console.  Later versions refuse links themselves, but for the console and for the
 * directory dev (CVE-2026-47766, CVE-2026-88264).
 */
static bool is_untrusted_name(const char *path, int flags)
{
	return !strchr(path, '/') && (!(flags & O_CLOEXEC) || str_eq(path, "console") ||
				      (flags == OPEN_DEV && str_eq(path, "dev")));
}

int __wrap_openat(int dirfd, const char *path, int flags, ...)
{
	mode_t mode = 0;
	int fd;

	if (flags == OPEN_PLAIN_TARGET && target_is_root(dirfd))
		return target_open_plain(dirfd, path, flags);
	if (flags == OPEN_DEV && str_eq(path, "dev") && (fd = target_reopen(dirfd, path, flags)) != -EBADF)
		return fd;

	if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {
		va_list args;

		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	return __real_openat(dirfd, path, is_untrusted_name(path, flags) ? flags | O_NOFOLLOW : flags, mode);
}

static int close_directories(const struct libcrun_container_s *container, libcrun_error_t *err)
{
	int r = close_each(3 + container->context->preserve_fds, CONTAINER_PROC_FD(container), is_directory);

	return r < 0 ? libcrun_make_error(err, -r, "close directories: /proc/self/fd") : 0;
}

/* This process becomes the first one of a container. */
static bool inside;

/*
 * The last moment at which /proc is the host's.  From here on libcrun needs no directory that is open, and the paths of
 * the working directory and of the program are resolved inside, where /proc/self/fd names them (CVE-2024-21626).
 *
 * 1.28 keeps the host's /proc open until it executes the program: chdir below refuses a working directory in it, and the path of a
 * program in it is gone by then.
 */
int __wrap_libcrun_do_pivot_root(struct libcrun_container_s *container, bool no_pivot, const char *rootfs,
				 libcrun_error_t *err)
{
	int r = close_directories(container, err);

	inside = true;
	return r < 0 ? r : __real_libcrun_do_pivot_root(container, no_pivot, rootfs, err);
}

static int fail(const struct fault *f, libcrun_error_t *err)
{
	return libcrun_make_error(err, 0, "%s", fault_text(f));
}

/* The same for exec. */
int __wrap_libcrun_join_process(JOIN_PARAMETERS)
{
	_cleanup_fault_ struct fault f = { 0 };
	int r = close_directories(container, err);

	if (r < 0)
		return r;
	if (hold_begin(&f) < 0)
		return fail(&f, err);
	r = __real_libcrun_join_process(JOIN_ARGUMENTS);
	if (hold_end(r, &f) < 0)
		return fail(&f, err);
	return r;
}

/*
 * The kernel answers getcwd with a path that does not begin with '/' when the directory cannot be reached from the
 * process's root: it is in another mount namespace, below a detached mount or outside of a chroot.
 *
 * libcrun 1.8.1 would try once more after it dropped the capabilities, which fails with EACCES, and the parent prints either of the
 * two messages: the process ends with the first.
 */
int __wrap_chdir(const char *path)
{
	char cwd[PATH_MAX];

	if (__real_chdir(path) < 0)
		return -1;
	if (syscall(SYS_getcwd, cwd, sizeof(cwd)) > 0 && cwd[0] == '/')
		return 0;
	(void)!__real_chdir("/");
	libcrun_error(0, "working directory `%s` is outside of the container's root", path);
	if (inside)
		_exit(EXIT_FAILURE);
	errno = EPERM;
	return -1;
}
