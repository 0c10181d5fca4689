/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/id-map-write.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/process.h"

#define MESSAGE_MAX 400
#define ARGS_MAX (2 + 3 * ID_EXTENTS_MAX + 1)
#define NUMBER_SIZE 12
#define MS_NS UINT64_C(1000000)

/* Set-id root or file capabilities, from a file that only root can have written. */
static int require_program(const char *path, struct fault *f)
{
	struct statvfs fs;
	struct stat st;
	char caps[64];

	if (stat(path, &st) < 0)
		return errno == ENOENT
			       ? fault_set(f, ENOENT, "'%s' is not installed (apt install uidmap)", path)
			       : fault_errno(f, errno, "'%s'", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return fault_set(f, EPERM, "'%s' is not a program of root that only root can change", path);
	if (!(st.st_mode & S_ISUID) && getxattr(path, "security.capability", caps, sizeof(caps)) <= 0)
		return fault_set(f, EPERM,
				 "'%s' has neither the set-user-ID bit nor a file capability (as root: chmod "
				 "u+s %s)",
				 path, path);
	if (statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOSUID))
		return fault_set(f, EPERM, "'%s' is on a file system that is mounted nosuid", path);
	return 0;
}

int id_map_require_programs(struct fault *f)
{
	int r = require_program(ID_MAP_NEWUIDMAP, f);

	if (r == 0)
		r = require_program(ID_MAP_NEWGIDMAP, f);
	if (r == 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		r = fault_set(f, EPERM, "newuidmap gets no privilege: custody was started with no_new_privs");
	return r;
}

void id_map_helper_done(struct id_map_helper *h)
{
	if (h->pid > 0) {
		(void)kill(h->pid, SIGKILL);
		while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	h->pid = -1;
	h->pidfd = fd_close(h->pidfd);
	h->err = fd_close(h->err);
}

static void execute(const char *program, char *const args[], int err)
{
	static const char *const environment[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	process_restore_signals();
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(err, STDERR_FILENO) < 0)
		_exit(127);
	(void)execve(program, args, (char *const *)environment);
	(void)dprintf(STDERR_FILENO, "%s", strerror(errno));
	_exit(127);
}

int id_map_start(struct id_map_helper *h, const char *program, char *const args[], struct fault *f)
{
	int fd[2];

	h->program = program;
	h->end_ns = clock_boot_ns() + ID_MAP_WAIT_MS * MS_NS;
	if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) < 0)
		return fault_errno(f, errno, "start '%s'", program);
	h->err = fd[0];
	h->pid = fork();
	if (h->pid == 0)
		execute(program, args, fd[1]);
	(void)fd_close(fd[1]);
	if (h->pid < 0)
		return fault_errno(f, errno, "start '%s'", program);
	h->pidfd = (int)syscall(SYS_pidfd_open, h->pid, 0);
	return h->pidfd < 0 ? fault_errno(f, errno, "watch '%s'", program) : 0;
}

/* Its first line, as far as it can be shown. */
static int report(const struct id_map_helper *h, int status, struct fault *f)
{
	char text[MESSAGE_MAX + 1];
	ssize_t n = read(h->err, text, MESSAGE_MAX);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	for (char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	if (*text)
		return fault_set(f, EPERM, "%s: %s", h->program, text);
	if (WIFSIGNALED(status))
		return fault_set(f, EPERM, "%s was killed by signal %d", h->program, WTERMSIG(status));
	return fault_set(f, EPERM, "%s failed with status %d", h->program, WEXITSTATUS(status));
}

int id_map_finish(struct id_map_helper *h, struct fault *f)
{
	struct pollfd p = { .fd = h->pidfd, .events = POLLIN };
	int status = 0, n;

	do {
		const uint64_t now = clock_boot_ns();

		n = poll(&p, 1, now < h->end_ns ? (int)((h->end_ns - now + MS_NS - 1) / MS_NS) : 0);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return fault_set(f, ETIMEDOUT, "%s did not return within %d seconds and was killed",
				 h->program, ID_MAP_WAIT_MS / 1000);
	while (waitpid(h->pid, &status, 0) < 0)
		if (errno != EINTR)
			return fault_errno(f, errno, "wait for '%s'", h->program);
	h->pid = -1;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : report(h, status, f);
}

struct words {
	char text[ARGS_MAX][NUMBER_SIZE];
	char *args[ARGS_MAX + 1];
};

static void put_word(struct words *w, unsigned int *n, unsigned int number)
{
	(void)snprintf(w->text[*n], NUMBER_SIZE, "%u", number);
	w->args[*n] = w->text[*n];
	(*n)++;
}

/* "NAME PID INSIDE OUTSIDE COUNT ..." */
static void fill(struct words *w, const char *name, pid_t pid, const struct id_extents *e)
{
	unsigned int n = 0;

	(void)snprintf(w->text[n], NUMBER_SIZE, "%s", name);
	w->args[n] = w->text[n];
	n++;
	put_word(w, &n, (unsigned int)pid);
	for (unsigned int i = 0; i < e->n; i++) {
		put_word(w, &n, e->at[i].inside);
		put_word(w, &n, e->at[i].outside);
		put_word(w, &n, e->at[i].count);
	}
	w->args[n] = NULL;
}

int id_map_write(pid_t pid, const struct id_map *m, struct fault *f)
{
	_cleanup_id_map_helper_ struct id_map_helper u = ID_MAP_HELPER_NONE, g = ID_MAP_HELPER_NONE;
	struct words uw, gw;
	int r;

	fill(&uw, "newuidmap", pid, &m->uid);
	fill(&gw, "newgidmap", pid, &m->gid);
	r = id_map_start(&g, ID_MAP_NEWGIDMAP, gw.args, f);
	if (r == 0)
		r = id_map_start(&u, ID_MAP_NEWUIDMAP, uw.args, f);
	if (r == 0)
		r = id_map_finish(&g, f);
	return r < 0 ? r : id_map_finish(&u, f);
}
