/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "oci/libcrun/libcrun-hold.h"
#include "oci/libcrun/libcrun-passwd.h"
#include "oci/libcrun/libcrun-wrap.h"

/* Functions of libcrun and libc that the linker replaces in custody-runtime: libcrun-wrap.h. */

/*
 * libcrun copies the executable (CVE-2019-5736) in a constructor, for every verb, even for --version.  In
 * custody-runtime main decides by verb: runtime-guard.c.
 */
int __wrap_ensure_cloned_binary(void)
{
	return 0;
}

/*
 * libcrun refuses every container on a host that mounts v1 controllers and v2 side by side.  There the controllers
 * are v1's, and engines use those: report v1.
 */
int __wrap_libcrun_get_cgroup_mode(libcrun_error_t *err)
{
	enum { UNIFIED = 1, LEGACY, HYBRID };
	int mode = __real_libcrun_get_cgroup_mode(err);

	return mode == HYBRID ? LEGACY : mode;
}

static void file_closep(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

/*
 * A statically linked getpwuid_r loads nss modules of another libc.  The file is enough: libcrun needs the name for its
 * status and to find the user in /etc/subuid.  It reads PW also when no entry exists: then the name is the number.
 */
int __wrap_getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t size, struct passwd **ret)
{
	_cleanup_(file_closep) FILE *file = fopen("/etc/passwd", "re");
	int r = file ? 0 : ENOENT;

	while (r == 0) {
		r = fgetpwent_r(file, pw, buf, size, ret);
		if (r == ERANGE)
			return ERANGE;
		if (r == 0 && pw->pw_uid == uid)
			return 0;
	}
	*ret = NULL;
	return passwd_fill(pw, buf, size, uid, NULL);
}

/* Writes DATA to a new file beside PATH.  0, or an errno; TEMP is its name as soon as it exists. */
static int write_beside(const char *path, const void *data, size_t len, char temp[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	int dir_len = slash ? (int)(slash - path) + 1 : 0;
	_cleanup_close_ int fd = -EBADF;
	int n;

	n = snprintf(temp, PATH_MAX, "%.*s.%s.%d", dir_len, path, path + dir_len, (int)getpid());
	if (n < 0 || n >= PATH_MAX) {
		temp[0] = '\0';
		return ENAMETOOLONG;
	}
	/* Left by a process that had our number and was killed. */
	(void)unlink(temp);
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0) {
		int e = errno;

		temp[0] = '\0';
		return e;
	}
	return -fd_write_all(fd, data, len, NULL);
}

/*
 * The pid file.  As runc does it, a new file gets the name: a link is replaced and not followed, and a reader never sees half
 * of the number.  A device is not replaced.
 */
static int write_pid_file(const char *name, const void *data, size_t len, libcrun_error_t *err)
{
	char temp[PATH_MAX] = "";
	struct stat st;
	int e;

	if (lstat(name, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return libcrun_make_error(err, 0, "pid file `%s` exists and is not a regular file", name);
	e = write_beside(name, data, len, temp);
	if (e == 0 && rename(temp, name) < 0)
		e = errno;
	if (e == 0)
		return (int)len;
	if (temp[0])
		(void)unlink(temp);
	return libcrun_make_error(err, e, "write pid file `%s`", name);
}

#ifdef LIBCRUN_HAS_WRITE_FILE_WITH_FLAGS
/* The only file that libcrun creates by this function is the pid file. */
int __wrap_write_file_with_flags(const char *name, int flags, const void *data, size_t len,
				 libcrun_error_t *err)
{
	if (!(flags & O_CREAT))
		return __real_write_file_with_flags(name, flags, data, len, err);
	return write_pid_file(name, data, len, err);
}
#endif

/* A limit of memory that is 0 is not set, as for runc: engines send every member that they know. */
static bool is_unset(const char *name, const char *text, size_t len)
{
	static const char *const limits[] = { "memory.limit_in_bytes", "memory.memsw.limit_in_bytes",
					      "memory.max" };

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (str_eq(name, limits[i]))
			return len == 1 && *text == '0';
	return false;
}

/*
 * -1 means "no limit" in config.json.  For v1 libcrun writes it as an unsigned number, and to pids.max as -1, which the
 * kernel refuses.
 */
int __wrap_write_file_at_with_flags(int dirfd, int flags, mode_t mode, const char *name, const void *data,
				    size_t len, libcrun_error_t *err)
{
	static const char unsigned_minus_one[] = "18446744073709551615";
	bool time = str_eq(name, "cpu.cfs_quota_us") || str_eq(name, "cpu.rt_runtime_us");
	const char *text = data;

	/* The pid file, and nothing else, is created with these flags alone (1.21 and later). */
	if (dirfd == AT_FDCWD && flags == (O_CREAT | O_TRUNC))
		return write_pid_file(name, data, len, err);
	if (is_unset(name, text, len))
		return 0;
	if (time && len == strlen(unsigned_minus_one) && !memcmp(text, unsigned_minus_one, len)) {
		text = "-1";
		len = 2;
	} else if (str_eq(name, "pids.max") && len == 2 && !memcmp(text, "-1", len)) {
		text = "max";
		len = 3;
	}
	return __real_write_file_at_with_flags(dirfd, flags, mode, name, text, len, err);
}

/* exec --ignore-paused: libcrun has no such option; set once, before the one call of this process. */
static bool paused_is_ignored;

void libcrun_ignore_paused(void)
{
	paused_is_ignored = true;
}

int __wrap_libcrun_cgroup_is_container_paused(struct libcrun_cgroup_status *status, bool *paused,
					      libcrun_error_t *err)
{
	int r = __real_libcrun_cgroup_is_container_paused(status, paused, err);

	if (paused_is_ignored)
		*paused = false;
	return r;
}

/* A command in a governed container for which libcrun waits: its warden must get the status as it is. */
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	int seen = 0;
	pid_t r = __real_waitpid(pid, &seen, options);

	if (r > 0)
		hold_waited(r, seen);
	if (r > 0 && status)
		*status = seen;
	return r;
}
