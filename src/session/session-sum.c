/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/session-sum.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/seam.h"
#include "base/userns.h"
#include "session/session-owners.h"
#include "worktree/overlay-sum.h"

#define TEMP SESSION_UPPER_SUM ".new"

const char *session_layer_name(const struct session_upper *k)
{
	return k->chain ? SESSION_UPPER_SUM : SESSION_UPPER_DIR;
}

static int open_directory(int dirfd, const char *name, struct fault *f)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	/* Its payload may have taken the permissions of the worktree's root. */
	if (fd < 0 && errno == EACCES)
		fd = openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? fault_errno(f, errno, "open '%s' of the session", name) : fd;
}

int session_layer_open(int dirfd, const struct session_upper *k, struct fault *f)
{
	return open_directory(dirfd, session_layer_name(k), f);
}

struct job {
	int base, worktree, dirfd;
	const char *name;
	bool moment;
};

/* Reopened where this process may read them: descriptors of the caller may be O_PATH. */
static int add_up(const struct job *j, struct fault *f)
{
	_cleanup_close_ int lower = openat(j->base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			    upper = openat(j->dirfd, SESSION_UPPER_DIR,
					   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			    out = openat(j->dirfd, j->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (lower < 0 || upper < 0 || out < 0)
		return fault_errno(f, errno, "open the uppers");
	return overlay_sum_make(&(struct overlay_sum_ask){ .lower = lower,
							   .upper = upper,
							   .out = out,
							   .moment = j->moment,
							   .worktree = j->worktree },
				f);
}

/* A user's payload may have made parts of its upper unreadable, or given them to other ids while it runs. */
static int add_up_inside(const struct job *j, struct fault *f)
{
	const pid_t parent = getpid();
	struct id_map ids = { 0 };
	int status = 0, r = session_owners_read(j->dirfd, &ids, f);
	pid_t pid;

	if (r < 0)
		return r;
	pid = fork();
	if (pid < 0)
		return fault_errno(f, errno, "add up the changes");
	if (pid == 0) {
		/* After userns_enter: a change of credentials clears PR_SET_PDEATHSIG. */
		if (userns_enter_map(&ids, NULL) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
		    getppid() != parent)
			_exit(EPERM);
		_exit(-add_up(j, NULL));
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return fault_errno(f, WIFEXITED(status) ? WEXITSTATUS(status) : EIO,
			   "add up the changes in a user namespace");
}

/* NAME is made anew.  After a failure it is removed. */
static int make(const struct job *j, struct fault *f)
{
	int r = path_remove_tree(j->dirfd, j->name, f);

	if (r == 0 && mkdirat(j->dirfd, j->name, 0700) < 0)
		r = fault_errno(f, errno, "make '%s'", j->name);
	if (r == 0)
		r = geteuid() == 0 ? add_up(j, f) : add_up_inside(j, f);
	if (r < 0)
		(void)!path_remove_tree(j->dirfd, j->name, NULL);
	return r;
}

/* -EBADF: another directory has its name now, or none. */
static int open_worktree(const struct session_upper *k)
{
	_cleanup_close_ int fd = open(k->worktree, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != k->device || st.st_ino != k->inode)
		return -EBADF;
	return TAKE_FD(fd);
}

int session_sum_make(int base, const struct session_upper *k, int dirfd, struct fault *f)
{
	_cleanup_close_ int tree = open_worktree(k);
	int r = make(&(struct job){ .base = base, .worktree = tree, .dirfd = dirfd, .name = TEMP }, f);

	if (r == 0) {
		seam("sum-made");
		r = path_remove_tree(dirfd, SESSION_UPPER_SUM, f);
	}
	if (r == 0 && renameat(dirfd, TEMP, dirfd, SESSION_UPPER_SUM) < 0)
		r = fault_errno(f, errno, "rename '" TEMP "'");
	if (r == 0)
		seam("sum-renamed");
	return r;
}

void session_base_done(struct session_base *b)
{
	fd_close(b->layer);
	fd_close(b->dir);
	fd_close(b->lock);
	session_upper_done(&b->kept);
}

int session_base_open(const struct dirs *d, const struct session_upper *k, struct session_base *ret,
		      struct fault *f)
{
	_cleanup_session_base_ struct session_base b = SESSION_BASE_NONE;
	int r = b.lock = session_upper_lock_shared(d, k->chain[0], f);

	if (r >= 0)
		r = b.dir = open_directory(b.lock, k->own ? SESSION_REPOSITORY : ".", f);
	if (r >= 0)
		r = session_upper_read(b.dir, &b.kept, f);
	if (r == 0)
		r = b.layer = session_layer_open(b.dir, &b.kept, f);
	if (r < 0)
		return fault_wrap(f, r, "session '%s', which session '%s' continues", k->chain[0],
				  k->session);
	*ret = b;
	b = SESSION_BASE_NONE;
	return 0;
}

int session_sum_make_from(const struct dirs *d, const struct session_upper *k, int dirfd, struct fault *f)
{
	_cleanup_session_base_ struct session_base b = SESSION_BASE_NONE;
	int r = session_base_open(d, k, &b, f);

	return r < 0 ? r : session_sum_make(b.layer, k, dirfd, f);
}

int session_sum_copy(const struct dirs *d, const struct session_upper *k, int dirfd, const char *name,
		     struct fault *f)
{
	_cleanup_session_base_ struct session_base b = SESSION_BASE_NONE;
	_cleanup_close_ int tree = open_worktree(k);
	int r = session_base_open(d, k, &b, f);

	if (r < 0)
		return r;
	return make(
		&(struct job){
			.base = b.layer, .worktree = tree, .dirfd = dirfd, .name = name, .moment = true },
		f);
}
