/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worktree/overlay-view.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/userns.h"
#include "worktree/overlay-manifest.h"
#include "worktree/worktree.h"

#define TEXT_MAX 512

/* From the process that mounts: an error as code and text, or the digest with the descriptor. */
struct answer {
	int code; /* 0: the view is open */
	char text[TEXT_MAX];
	struct digest digest;
};

/* Lowers are named by descriptor: no character of a path needs an escape, and no component can be replaced. */
static int mount_view(int layer, const char *worktree, struct fault *f)
{
	const struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				      .resolve = RESOLVE_NO_SYMLINKS };
	_cleanup_close_ int tree = (int)syscall(SYS_openat2, AT_FDCWD, worktree, &how, sizeof(how));
	char options[128];
	int fd;

	if (tree < 0)
		return fault_errno(f, errno, "open '%s'", worktree);
	(void)snprintf(options, sizeof(options), "lowerdir=/proc/self/fd/%d:/proc/self/fd/%d,userxattr",
		       layer, tree);
	if (mount("overlay", worktree, "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV, options) < 0)
		return fault_errno(f, errno, "mount the kept changes above '%s'", worktree);
	fd = open(worktree, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? fault_errno(f, errno, "open '%s'", worktree) : fd;
}

static int send_answer(int sock, const struct answer *a, int fd)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)a, sizeof(*a) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (fd >= 0) {
		m.msg_control = control.room;
		m.msg_controllen = sizeof(control.room);
		c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
				       .cmsg_type = SCM_RIGHTS,
				       .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(sock, &m, MSG_NOSIGNAL) == (ssize_t)sizeof(*a) ? 0 : -EIO;
}

/* overlayfs takes only mounts of the own mount namespace: LAYER was opened in another one. */
static int reopen(int layer, const char *path, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat a, b;

	if (fd < 0 || fstat(fd, &a) < 0 || fstat(layer, &b) < 0)
		return fault_errno(f, errno, "open '%s'", path);
	if (a.st_dev != b.st_dev || a.st_ino != b.st_ino)
		return fault_set(f, ESTALE, "'%s' was replaced while it was opened: retry", path);
	return TAKE_FD(fd);
}

/* A user's payload may have made files unreadable: in the user namespace they can be read. */
static int serve(const struct overlay_view_ask *v, pid_t parent, struct answer *a, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF, root = -EBADF;
	int r = geteuid() == 0 ? 0 : userns_enter(f);

	/* After userns_enter: a change of credentials clears PR_SET_PDEATHSIG. */
	if (r == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent))
		r = fault_set(f, EPIPE, "the parent process has exited");
	if (r == 0)
		r = worktree_leave_host(f);
	if (r == 0)
		r = root = reopen(v->layer, v->path, f);
	if (r >= 0)
		r = overlay_manifest_digest(root, &a->digest, f);
	if (r == 0)
		r = fd = mount_view(root, v->worktree, f);
	return r < 0 ? r : TAKE_FD(fd);
}

static void run_child(int sock, const struct overlay_view_ask *v, pid_t parent)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct answer a = { 0 };
	int fd = serve(v, parent, &a, &f);

	if (fd < 0) {
		a.code = -fd;
		(void)snprintf(a.text, sizeof(a.text), "%s", fault_text(&f));
	}
	_exit(send_answer(sock, &a, fd) < 0);
}

static int receive(int sock, struct answer *a)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { a, sizeof(*a) };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.room,
			    .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c;
	int fd = -EBADF;
	ssize_t n;

	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC | MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	c = n == (ssize_t)sizeof(*a) ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return n == (ssize_t)sizeof(*a) ? fd : -EPIPE;
}

int overlay_view_open(const struct overlay_view_ask *ask, struct digest *ret_digest, struct fault *f)
{
	const pid_t parent = getpid();
	_cleanup_close_ int fd = -EBADF;
	struct answer a = { 0 };
	int sock[2], status;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0)
		return fault_errno(f, errno, "view of the kept changes");
	pid = fork();
	if (pid == 0)
		run_child(sock[1], ask, parent);
	(void)fd_close(sock[1]);
	if (pid > 0)
		fd = receive(sock[0], &a);
	(void)fd_close(sock[0]);
	if (pid < 0)
		return fault_errno(f, errno, "view of the kept changes");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	a.text[sizeof(a.text) - 1] = '\0';
	if (fd < 0)
		return fault_set(f, a.code ? a.code : EPIPE, "%s",
				 a.code ? a.text : "the process that mounts the kept changes was killed");
	*ret_digest = a.digest;
	return TAKE_FD(fd);
}
