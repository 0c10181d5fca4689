/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"
#include "doctor/canary.h"

/* Tries against files and devices: root, masks, devices, worktree, descriptors, environment. */

static int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Never an existing file, never truncated: the try must do no harm where the layer is missing. */
static int try_create(const char *dir)
{
	char path[4096];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/.custody-canary", strcmp(dir, "/") == 0 ? "" : dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	close(fd);
	(void)unlink(path);
	return 0;
}

static int write_root(const struct canary_facts *f)
{
	(void)f;
	return try_create("/");
}

static int write_usr(const struct canary_facts *f)
{
	(void)f;
	return access("/usr", F_OK) < 0 ? TRY_NONE : try_create("/usr");
}

static int read_shadow(const struct canary_facts *f)
{
	(void)f;
	return try_open("/etc/shadow", O_RDONLY);
}

static int read_outside(const struct canary_facts *f)
{
	return f->secret ? try_open(f->secret, O_RDONLY) : TRY_NONE;
}

/* The known escape from a chroot: ".." from a directory that stays open.  Here ".." of the root is the root. */
static int walk_up(const struct canary_facts *f)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), up;
	struct stat here, there;
	int r = 0;

	(void)f;
	for (int i = 0; fd >= 0 && i < 32; i++) {
		up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = up;
	}
	if (fd < 0)
		return errno;
	if (fstat(fd, &there) == 0 && stat("/", &here) == 0 && here.st_dev == there.st_dev &&
	    here.st_ino == there.st_ino)
		r = TRY_HIDDEN;
	close(fd);
	return r;
}

/* A read-only mount refuses O_TRUNC before the owner is checked; it does not change a setting. */
static int write_sysctl(const struct canary_facts *f)
{
	(void)f;
	return try_open("/proc/sys/kernel/hostname", O_WRONLY | O_TRUNC) == EROFS ? EROFS : 0;
}

static int write_sysrq(const struct canary_facts *f)
{
	struct statvfs v;

	(void)f;
	if (statvfs("/proc/sysrq-trigger", &v) < 0)
		return TRY_NONE;
	return v.f_flag & ST_RDONLY ? EROFS : 0;
}

/* Masked: an entry of another file system is mounted over it. */
static int read_masked(const char *path)
{
	struct stat proc, st;

	if (stat("/proc", &proc) < 0 || lstat(path, &st) < 0)
		return TRY_NONE;
	return st.st_dev == proc.st_dev ? 0 : TRY_HIDDEN;
}

static int read_kcore(const struct canary_facts *f)
{
	(void)f;
	return read_masked("/proc/kcore");
}

static int read_keys(const struct canary_facts *f)
{
	(void)f;
	return read_masked("/proc/keys");
}

static int read_timers(const struct canary_facts *f)
{
	(void)f;
	return read_masked("/proc/timer_list");
}

/* Only existence counts: in the host's /dev these may be refused by their mode, or not at all. */
static int open_device(const char *path)
{
	struct stat st;

	return lstat(path, &st) < 0 ? errno : 0;
}

static int open_kmsg(const struct canary_facts *f)
{
	(void)f;
	return open_device("/dev/kmsg");
}

static int open_mem(const struct canary_facts *f)
{
	(void)f;
	return open_device("/dev/mem");
}

/* A new node in a writable directory; succeeds only if several layers are missing, and must never succeed. */
static int make_node(const struct canary_facts *f)
{
	char dir[] = "/tmp/custody-canary-XXXXXX", path[64];
	int r;

	(void)f;
	if (!mkdtemp(dir))
		return TRY_NONE;
	(void)snprintf(path, sizeof(path), "%s/disk", dir);
	r = mknod(path, S_IFBLK | 0600, makedev(8, 0)) < 0 ? errno : try_open(path, O_RDONLY);
	(void)unlink(path);
	(void)rmdir(dir);
	return r;
}

/* The file stays: doctor checks outside whether it exists in the original worktree. */
static int write_original(const struct canary_facts *f)
{
	char path[4096];
	int fd;

	if (!f->work || !f->work_mode)
		return TRY_NONE;
	(void)snprintf(path, sizeof(path), "%s/custody-canary-was-here", f->work);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	close(fd);
	if (strcmp(f->work_mode, "ro") == 0)
		return 0;
	return TRY_NONE; /* allowed here; doctor's check outside decides */
}

/* Doctor listens there.  A missing name is no refusal: the try would prove nothing. */
static int reach_socket(const char *dir)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct stat st;
	int fd, r = 0;

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%.80s/" CANARY_SOCKET, dir);
	if (lstat(to.sun_path, &st) < 0)
		return TRY_NONE;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		r = errno;
	close(fd);
	return r;
}

/* Doctor reads from it: without a reader the open fails. */
static int reach_fifo(const char *dir)
{
	char path[4096];
	struct stat st;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/" CANARY_FIFO, dir);
	if (lstat(path, &st) < 0)
		return TRY_NONE;
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* In a writable tree of the host both work, as files do. */
static bool is_ephemeral(const struct canary_facts *f)
{
	return f->work && f->work_mode && strcmp(f->work_mode, "rw") != 0;
}

static int socket_of_worktree(const struct canary_facts *f)
{
	return is_ephemeral(f) ? reach_socket(f->work) : TRY_NONE;
}

static int fifo_of_worktree(const struct canary_facts *f)
{
	return is_ephemeral(f) ? reach_fifo(f->work) : TRY_NONE;
}

static int socket_of_tree(const struct canary_facts *f)
{
	return f->tree ? reach_socket(f->tree) : TRY_NONE;
}

static int fifo_of_tree(const struct canary_facts *f)
{
	return f->tree ? reach_fifo(f->tree) : TRY_NONE;
}

static int inherit_descriptor(const struct canary_facts *f)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	int r = TRY_HIDDEN;

	(void)f;
	if (!d)
		return TRY_NONE;
	while ((e = readdir(d))) {
		uint64_t fd;

		if (str_to_u64(e->d_name, &fd) == 0 && fd > 2 && fd != (uint64_t)dirfd(d))
			r = 0;
	}
	closedir(d);
	return r;
}

static int read_environment(const struct canary_facts *f)
{
	(void)f;
	return getenv("CUSTODY_DOCTOR_SECRET") ? 0 : TRY_HIDDEN;
}

/* The kernel's call, not the library's: it returns "(unreachable)/..." for a directory outside of the root. */
static int start_outside(const struct canary_facts *f)
{
	char path[4096];
	long n;

	(void)f;
	n = syscall(SYS_getcwd, path, sizeof(path) - 1);
	if (n <= 0)
		return 0;
	/* A slash behind it, so that "/proc" and entries below it begin alike. */
	path[n - 1] = '/';
	path[n] = '\0';
	return path[0] != '/' || strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/dev/", 5) == 0 ||
			       strncmp(path, "/sys/", 5) == 0
		       ? 0
		       : TRY_HIDDEN;
}

/* clang-format off */
const struct canary_try canary_places[] = {
	{ "create a file in /", LAYER_ROOT, write_root },
	{ "create a file in /usr", LAYER_ROOT, write_usr },
	{ "read /etc/shadow", LAYER_ROOT, read_shadow },
	{ "read a file outside", LAYER_ROOT, read_outside },
	{ "walk up from the root", LAYER_ROOT, walk_up },
	{ "connect to a socket in a read-only tree", LAYER_ROOT, socket_of_tree },
	{ "write to a FIFO in a read-only tree", LAYER_ROOT, fifo_of_tree },
	{ "write to /proc/sys", LAYER_MASKS, write_sysctl },
	{ "write to /proc/sysrq-trigger", LAYER_MASKS, write_sysrq },
	{ "read /proc/kcore", LAYER_MASKS, read_kcore },
	{ "read /proc/keys", LAYER_MASKS, read_keys },
	{ "read /proc/timer_list", LAYER_MASKS, read_timers },
	{ "find /dev/kmsg", LAYER_DEVICES, open_kmsg },
	{ "find /dev/mem", LAYER_DEVICES, open_mem },
	{ "mknod a disk", LAYER_DEVICES, make_node },
	{ "write to the original worktree", LAYER_WORKTREE, write_original },
	{ "connect to a socket in the worktree", LAYER_WORKTREE, socket_of_worktree },
	{ "write to a FIFO in the worktree", LAYER_WORKTREE, fifo_of_worktree },
	{ "inherit a descriptor", LAYER_DESCRIPTORS, inherit_descriptor },
	{ "read the caller's environment", LAYER_ENVIRONMENT, read_environment },
	{ "start outside of the root", LAYER_CWD, start_outside },
	{ 0 },
};
/* clang-format on */
