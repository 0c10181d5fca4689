/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/process.h"
#include "base/str.h"
#include "session/session-note.h"

int session_note_sign(struct session_note *n, struct fault *f)
{
	n->pid = getpid();
	if (process_start_time(n->pid, &n->pid_start) != 1)
		return fault_set(f, ESRCH, "cannot read /proc/%d/stat of this process", (int)n->pid);
	return clock_boot_id(n->boot, f);
}

static int gone(const struct session_note *n, struct fault *f)
{
	return fault_set(f, ESRCH, "session '%s': its supervisor has exited", n->session);
}

/*
 * "1: FLOCK  ADVISORY  WRITE 4711 00:2f:1234 0 EOF": the holder of the lock on the inode of DIR, 0: another line.
 * The device is not compared: on some file systems stat returns another one.
 */
static pid_t holder_in(const char *line, const struct stat *dir)
{
	uint64_t inode;
	int holder;

	/* The line of a waiter has an arrow after the number and does not match. */
	if (sscanf(line, "%*u: FLOCK ADVISORY WRITE %d %*x:%*x:%" SCNu64, &holder, &inode) != 2)
		return 0;
	return inode == dir->st_ino ? (pid_t)holder : 0;
}

/* *RET: PID holds the lock; *RET_LISTED: any process does. */
static int ask_kernel(pid_t pid, const struct stat *dir, bool *ret, bool *ret_listed, struct fault *f)
{
	_cleanup_free_ char *line = NULL;
	FILE *locks = fopen("/proc/locks", "re");
	size_t room = 0;

	if (!locks)
		return fault_errno(f, errno, "open '/proc/locks'");
	while (!*ret && getline(&line, &room, locks) > 0) {
		pid_t holder = holder_in(line, dir);

		*ret_listed |= holder != 0;
		*ret = holder == pid;
	}
	(void)fclose(locks);
	return 0;
}

/* For file systems whose inode numbers differ in /proc/locks and stat (overlay): does PID have DIR open? */
static bool has_open(pid_t pid, const struct stat *dir)
{
	char path[32];
	const struct dirent *e;
	struct stat st;
	bool found = false;
	DIR *fds;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	fds = opendir(path);
	while (fds && !found && (e = readdir(fds)))
		found = e->d_name[0] != '.' && fstatat(dirfd(fds), e->d_name, &st, 0) == 0 &&
			st.st_dev == dir->st_dev && st.st_ino == dir->st_ino;
	if (fds)
		(void)closedir(fds);
	return found;
}

/*
 * The note may be old, edited, or of another boot: a process is signalled only if the kernel reports it as holder
 * of the session's lock.
 */
static int require_holder(const struct dirs *d, const struct session_note *n, struct fault *f)
{
	_cleanup_free_ char *path = NULL;
	bool holds = false, listed = false;
	struct stat st;
	int r;

	if (asprintf(&path, "%s/sessions/%s", d->run, n->session) < 0) {
		path = NULL;
		return fault_errno(f, ENOMEM, "session");
	}
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? gone(n, f) : fault_errno(f, errno, "'%s'", path);
	r = ask_kernel(n->pid, &st, &holds, &listed, f);
	if (r < 0)
		return r;
	return holds || (!listed && has_open(n->pid, &st)) ? 0 : gone(n, f);
}

int session_note_watch(const struct dirs *d, const struct session_note *n, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	char boot[sizeof(n->boot)];
	uint64_t start = 0;
	int r;

	r = clock_boot_id(boot, f);
	if (r < 0)
		return r;
	if (n->state != SESSION_RUNNING || !str_eq(boot, n->boot) || n->pid <= 1)
		return gone(n, f);
	/* Open the pidfd first: the checks below then hold for its process, or that process is dead. */
	fd = (int)syscall(SYS_pidfd_open, n->pid, 0);
	r = fd < 0 ? -errno : 0;
	/* Check this also if pidfd_open failed: the pid may be a thread's now, which is not ESRCH. */
	if (process_start_time(n->pid, &start) != 1 || start != n->pid_start)
		return gone(n, f);
	if (r < 0)
		return fault_errno(f, -r, "pidfd of process %d", (int)n->pid);
	r = require_holder(d, n, f);
	return r < 0 ? r : TAKE_FD(fd);
}
