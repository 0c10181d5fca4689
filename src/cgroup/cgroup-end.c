/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/cgroup-file.h"
#include "cgroup/cgroup.h"

#define KILL_ROUNDS 1000
#define EMPTY_ROUNDS 64
#define EMPTY_WAIT_MS 2000
#define RECORD_MAX ((size_t)64 * 1024)

/*
 * Kernels before 5.14 and v1: a process may fork between the read and the kill, hence the rounds. Killing
 * init kills its PID namespace anyway; this is for processes outside of it.
 */
static int kill_members(int dirfd)
{
	char text[CGROUP_TEXT_MAX];

	for (int i = 0; i < KILL_ROUNDS; i++) {
		char *save = NULL;
		int r = cgroup_file_read(dirfd, "cgroup.procs", text), n = 0;

		if (r < 0)
			return r;
		for (char *word = strtok_r(text, "\n", &save); word;
		     word = strtok_r(NULL, "\n", &save), n++) {
			uint64_t pid = 0;

			/* 0 is a process of another PID namespace, and kill(0) would signal our own group. */
			if (str_to_u64(word, &pid) == 0 && pid > 1)
				(void)kill((pid_t)pid, SIGKILL);
		}
		if (n == 0)
			return 0;
		/* Killed processes stay listed until they exit: do not signal them again. */
		if (i >= 2)
			return 0;
	}
	return 0;
}

int cgroup_kill(const struct cgroup *c, struct fault *f)
{
	int r;

	for (size_t i = 0; i < c->n_nodes; i++) {
		const struct cgroup_node *n = &c->nodes[i];

		r = n->v2 ? cgroup_file_write(n->fd, "cgroup.kill", "1") : -ENOENT;
		if (r == -ENOENT)
			r = kill_members(n->fd);
		if (r < 0)
			return fault_errno(f, -r, "kill the processes of '%s'", n->dir);
		/* All nodes hold the same processes. */
		if (n->v2)
			return 0;
	}
	return 0;
}

#define FREEZE_MS \
	1000 /* a task in the kernel stops when it returns; it changes nothing meanwhile that another cannot */

static bool is_frozen(int dirfd)
{
	char text[CGROUP_TEXT_MAX];
	uint64_t frozen = 0;

	return cgroup_file_read(dirfd, "cgroup.events", text) >= 0 &&
	       cgroup_text_key(text, "frozen", &frozen) == 0 && frozen == 1;
}

int cgroup_freeze(const struct cgroup *c)
{
	for (size_t i = 0; i < c->n_nodes; i++) {
		const struct cgroup_node *n = &c->nodes[i];
		int r;

		if (!n->v2)
			continue;
		r = cgroup_file_write(n->fd, "cgroup.freeze", "1");
		for (int ms = 0; r >= 0 && ms < FREEZE_MS && !is_frozen(n->fd); ms++)
			(void)usleep(1000);
		return r;
	}
	return -ENOENT;
}

void cgroup_thaw(const struct cgroup *c)
{
	for (size_t i = 0; i < c->n_nodes; i++)
		if (c->nodes[i].v2)
			(void)!cgroup_file_write(c->nodes[i].fd, "cgroup.freeze", "0");
}

/* v2 reports when the last process exits. */
static void wait_event(int dirfd)
{
	_cleanup_close_ int fd = openat(dirfd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	char text[CGROUP_TEXT_MAX];
	ssize_t n;
	uint64_t populated = 0;

	if (fd < 0)
		return;
	/* Read first: poll reports changes since the last read. */
	n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return;
	text[n] = '\0';
	if (cgroup_text_key(text, "populated", &populated) < 0 || populated == 0)
		return;
	(void)poll(&(struct pollfd){ .fd = fd, .events = POLLPRI }, 1, EMPTY_WAIT_MS);
}

/* v1 does not: wait for one listed process to exit. */
static void wait_member(int dirfd)
{
	_cleanup_close_ int pidfd = -EBADF;
	char text[CGROUP_TEXT_MAX];
	uint64_t pid = 0;

	if (cgroup_file_read(dirfd, "cgroup.procs", text) < 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	if (str_to_u64(text, &pid) < 0 || pid == 0)
		return;
	pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (pidfd >= 0)
		(void)poll(&(struct pollfd){ .fd = pidfd, .events = POLLIN }, 1, EMPTY_WAIT_MS);
}

static int remove_dir(const char *dir, struct fault *f)
{
	for (int i = 0; i < EMPTY_ROUNDS; i++) {
		_cleanup_close_ int fd = -EBADF;

		if (rmdir(dir) == 0 || errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			return fault_errno(f, errno, "remove cgroup '%s'", dir);
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			continue;
		(void)kill_members(fd);
		if (faccessat(fd, "cgroup.events", F_OK, 0) == 0)
			wait_event(fd);
		else
			wait_member(fd);
	}
	return fault_set(f, EBUSY, "remove cgroup '%s': its processes do not exit", dir);
}

/* "/sys/fs/cgroup/custody" is shared: the last session removes it when it is empty. */
static void remove_shared(const char *dir)
{
	_cleanup_free_ char *parent = strdup(dir);
	char *slash = parent ? strrchr(parent, '/') : NULL;

	if (!slash)
		return;
	*slash = '\0';
	if (str_ends(parent, "/custody"))
		(void)rmdir(parent);
}

/* Is there a cgroup below FD but LEAF?  An error is an answer of yes. */
static bool has_others(int fd, const char *leaf)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	bool found = false;
	struct stat st;

	if (!dir) {
		(void)fd_close(copy);
		return true;
	}
	for (errno = 0; !found && (entry = readdir(dir)); errno = 0)
		found = !str_eq(entry->d_name, ".") && !str_eq(entry->d_name, "..") &&
			!str_eq(entry->d_name, leaf) &&
			(fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISDIR(st.st_mode));
	found = found || errno;
	(void)closedir(dir);
	return found;
}

/* The scope itself may hold processes only while subtree_control is empty. */
static void return_from_leaf(int fd, const char *leaf)
{
	char self[16], text[CGROUP_TEXT_MAX];

	if (cgroup_file_read(fd, "cgroup.subtree_control", text) == 0) {
		for (unsigned int i = 0; i < _CGROUP_CONTROLLER_MAX; i++) {
			char off[16];

			(void)snprintf(off, sizeof(off), "-%s", cgroup_controller_name(i));
			if (cgroup_text_has(text, cgroup_controller_name(i)))
				(void)!cgroup_file_write(fd, "cgroup.subtree_control", off);
		}
	}
	(void)snprintf(self, sizeof(self), "%d", (int)getpid());
	if (cgroup_file_write(fd, "cgroup.procs", self) == 0)
		(void)rmdir(leaf);
}

/*
 * The kernel removes the limits of every cgroup below when a controller is disabled.  Another session, which found the controllers
 * enabled here, may have its cgroup beside our leaf, or be about to create one (open_v2): then this process stays in the leaf, and
 * the controllers stay enabled.
 */
static void leave_leaf(struct cgroup *c)
{
	_cleanup_close_ int fd = -EBADF;

	if (!c->leaf)
		return;
	fd = open(c->leaf_parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || has_others(fd, strrchr(c->leaf, '/') + 1))
		return;
	return_from_leaf(fd, c->leaf);
}

int cgroup_remove(struct cgroup *c, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; i < c->n_nodes; i++) {
		int q = remove_dir(c->nodes[i].dir, r < 0 ? NULL : f);

		if (q == 0 && c->nodes[i].v2)
			remove_shared(c->nodes[i].dir);
		r = r < 0 ? r : q;
	}
	leave_leaf(c);
	return r;
}

/*
 * Accepts only paths that cgroup_open writes: a directory named for a session, in a cgroup file system.
 * Anywhere else "cgroup.procs" could be a forged list of pids to kill.
 */
static int open_ours(const char *dir)
{
	const char *name = strrchr(dir, '/');
	_cleanup_close_ int fd = -EBADF;
	struct statfs fs;

	if (dir[0] != '/' || !name || !str_starts(name, "/custody-") || strstr(dir, "/../"))
		return -EINVAL;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return -errno;
	if (fs.f_type != CGROUP_SUPER_MAGIC && fs.f_type != CGROUP2_SUPER_MAGIC)
		return -EINVAL;
	return TAKE_FD(fd);
}

int cgroup_release(int run_fd, struct fault *f)
{
	_cleanup_close_ int fd = openat(run_fd, "cgroup", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	char *save = NULL;
	size_t len;
	int r;

	if (fd < 0)
		return errno == ENOENT ? 0 : fault_errno(f, errno, "read the session's cgroup");
	r = fd_read_all(fd, RECORD_MAX, &text, &len, f);
	if (r < 0)
		return r;
	for (char *dir = strtok_r(text, "\n", &save); dir; dir = strtok_r(NULL, "\n", &save)) {
		_cleanup_close_ int dirfd = open_ours(dir);

		if (dirfd < 0)
			continue;
		if (cgroup_file_write(dirfd, "cgroup.kill", "1") < 0)
			(void)kill_members(dirfd);
		r = remove_dir(dir, f);
		if (r < 0)
			return r;
		remove_shared(dir);
	}
	return 0;
}
