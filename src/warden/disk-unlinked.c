/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/dir.h"
#include "base/fd.h"
#include "base/str.h"
#include "warden/disk-watch.h"
#include "warden/inode-set.h"

/*
 * Unlinked files that a process still holds: they have no name, but are found through its tasks.  A thread may have a
 * descriptor table of its own, and it keeps memory and table of a process whose first thread has exited, so every task
 * is read, by /proc/TID, which exists for each.  Descriptors queued in a socket, and mappings that only root may open,
 * show that they exist but not their size: `hidden`.
 */
#define LOOKS_MAX 65536 /* about half a second */

struct search {
	struct disk_nameless found;
	struct inode_set seen;	     /* several descriptors and mappings of one file count once */
	pid_t with_files, with_maps; /* last task of which the table, the memory was read; 0: none */
	unsigned int looks;
};

static void look_at(struct search *s, int fd)
{
	struct stat st;
	struct statfs fs;

	if (fstat(fd, &st) < 0 || st.st_nlink > 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return;
	/* Other file systems of the container are in memory, which has its own limit. */
	if (fstatfs(fd, &fs) == 0 && fs.f_type == OVERLAYFS_SUPER_MAGIC &&
	    inode_set_add(&s->seen, st.st_dev, st.st_ino))
		s->found.bytes += (uint64_t)st.st_blocks * 512;
}

/* Files that need no disk: shared memory of any kind. */
static bool is_memory(const char *path)
{
	static const char *const starts[] = { "/dev/zero", "/memfd:", "/SYSV", "/dev/shm/" };

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (str_starts(path, starts[i]))
			return true;
	return false;
}

static bool is_removed(int dirfd, const char *name)
{
	char path[4096];
	ssize_t n = readlinkat(dirfd, name, path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	return n > 0 && str_ends(path, " (deleted)") && !is_memory(path);
}

/* A descriptor, mapping, program or directory. O_PATH: opening a device or a lease would have effects. */
static void look_at_name(struct search *s, int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_PATH | O_CLOEXEC);

	if (fd >= 0)
		look_at(s, fd);
	else if (errno == EPERM || errno == EACCES)
		s->found.hidden |= is_removed(dirfd, name);
}

/* Descriptors that wait in a socket's queue (Linux 5.11). */
static void look_at_info(struct search *s, int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	char text[512];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	uint64_t queued = 0;

	text[n > 0 ? n : 0] = '\0';
	s->found.hidden |= str_find_u64(text, "scm_fds:", &queued) == 0 && queued > 0;
}

/* The supervisor keeps the clock as well: descriptors that it has no time for count as hidden. */
static bool has_time(struct search *s)
{
	s->found.hidden |= s->looks >= LOOKS_MAX;
	return s->looks++ < LOOKS_MAX;
}

static int open_of(int proc, pid_t tid, const char *what)
{
	char path[48];

	(void)snprintf(path, sizeof(path), "%d/%s", (int)tid, what);
	return openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void look_below(struct search *s, int proc, pid_t tid, const char *what,
		       void (*look)(struct search *s, int dirfd, const char *name))
{
	_cleanup_dir_ DIR *d = NULL;
	const struct dirent *e;
	int fd = open_of(proc, tid, what);

	if (fd < 0)
		return;
	d = fdopendir(fd);
	if (!d)
		(void)fd_close(fd);
	while (d && (e = readdir(d)) && has_time(s))
		if (e->d_name[0] != '.')
			look(s, dirfd(d), e->d_name);
}

/* Most threads share both with the task before them; one that cannot be compared is read. */
static bool is_shared(pid_t tid, pid_t *last, int what)
{
	if (*last > 0 && syscall(SYS_kcmp, tid, *last, what, 0UL, 0UL) == 0)
		return true;
	*last = tid;
	return false;
}

static void look_at_task(struct search *s, int proc, pid_t tid)
{
	_cleanup_close_ int fd = open_of(proc, tid, ".");

	if (fd < 0)
		return;
	look_at_name(s, fd, "cwd");
	if (!is_shared(tid, &s->with_files, KCMP_FILES)) {
		look_below(s, proc, tid, "fd", look_at_name);
		look_below(s, proc, tid, "fdinfo", look_at_info);
	}
	if (!is_shared(tid, &s->with_maps, KCMP_VM)) {
		look_at_name(s, fd, "exe");
		look_below(s, proc, tid, "map_files", look_at_name);
	}
}

/* Pages that the process and its reaped children made dirty, without those that a truncation cleaned. */
static void count_written(struct search *s, int proc, pid_t pid)
{
	_cleanup_close_ int fd = -EBADF;
	char path[32], text[512];
	uint64_t written = 0, cancelled = 0;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%d/io", (int)pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	/* Without them nothing counts: the file may be unreadable. */
	(void)str_find_u64(text, "\nwrite_bytes:", &written);
	(void)str_find_u64(text, "\ncancelled_write_bytes:", &cancelled);
	s->found.written += written > cancelled ? written - cancelled : 0;
}

static void look_at_process(struct search *s, int proc, pid_t pid)
{
	_cleanup_dir_ DIR *tasks = NULL;
	const struct dirent *e;
	uint64_t tid;
	int fd = open_of(proc, pid, "task");

	if (fd < 0)
		return;
	count_written(s, proc, pid);
	tasks = fdopendir(fd);
	if (!tasks)
		(void)fd_close(fd);
	s->with_files = s->with_maps = 0;
	while (tasks && (e = readdir(tasks)))
		if (str_to_u64(e->d_name, &tid) == 0 && tid > 0)
			look_at_task(s, proc, (pid_t)tid);
}

static bool read_ns(int proc, const char *pid, char ret[64])
{
	char path[40];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%.20s/ns/pid", pid);
	n = readlinkat(proc, path, ret, 63);
	ret[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Nested pid namespaces need a system call that the filter refuses. */
static void look_at_number(struct search *s, int proc, const char *number, const char *wanted)
{
	char ns[64];
	uint64_t pid;

	if (str_to_u64(number, &pid) == 0 && pid > 0 && read_ns(proc, number, ns) && strcmp(ns, wanted) == 0)
		look_at_process(s, proc, (pid_t)pid);
}

/* The list of a session is short; all processes of the host, asked by each of many sessions, take a processor. */
static bool look_in_cgroup(struct search *s, int proc, const struct cgroup *c, const char *wanted)
{
	int fd = c ? cgroup_open_processes(c) : -EBADF;
	FILE *list = fd < 0 ? NULL : fdopen(fd, "re");
	char line[24];
	bool whole;

	if (!list) {
		(void)fd_close(fd);
		return false;
	}
	while (fgets(line, sizeof(line), list)) {
		line[strcspn(line, "\n")] = '\0';
		look_at_number(s, proc, line, wanted);
	}
	whole = !ferror(list);
	(void)fclose(list);
	return whole;
}

void disk_measure_nameless(pid_t init, const struct cgroup *c, struct disk_nameless *ret)
{
	_cleanup_dir_ DIR *proc = opendir("/proc");
	struct search s = { 0 };
	char self[16], wanted[64];
	const struct dirent *e;

	(void)snprintf(self, sizeof(self), "%d", (int)init);
	if (proc && read_ns(dirfd(proc), self, wanted) && !look_in_cgroup(&s, dirfd(proc), c, wanted)) {
		inode_set_done(&s.seen);
		s = (struct search){ 0 };
		while ((e = readdir(proc)))
			look_at_number(&s, dirfd(proc), e->d_name, wanted);
	}
	inode_set_done(&s.seen);
	*ret = s.found;
}
