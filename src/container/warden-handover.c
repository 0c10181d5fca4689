/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/warden-handover.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/dir.h"
#include "base/fd.h"
#include "base/path.h"

#define HELD_FDS 4

/* The message is one byte: HELD and the bits of the descriptors that follow the worktree's. */
#define HELD '0'
#define HELD_UPPER 1
#define HELD_GATE 2

union rights {
	char room[CMSG_SPACE(HELD_FDS * sizeof(int))];
	struct cmsghdr align;
};

void warden_handover_name(const char *container, bool held, char name[WARDEN_HANDOVER_SIZE])
{
	char hex[DIGEST_HEX_SIZE];
	struct digest d;

	digest_bytes(container, strlen(container), &d);
	digest_to_hex(&d, hex);
	(void)snprintf(name, WARDEN_HANDOVER_SIZE, "%s-%.16s", held ? "held" : "door", hex);
}

void warden_held_done(struct warden_held *h)
{
	h->tree = fd_close(h->tree);
	h->upper = fd_close(h->upper);
	h->gate = fd_close(h->gate);
	h->gate_dir = fd_close(h->gate_dir);
}

int warden_handover_make(int sessionfd, const char *container, struct fault *f)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char name[WARDEN_HANDOVER_SIZE];

	warden_handover_name(container, false, name);
	/* A session's path may be longer than sun_path. */
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%s", sessionfd, name);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return fault_errno(f, errno, "create the handover socket of custody-warden");
	return TAKE_FD(fd);
}

/* -ENOENT: another container's session; -ECONNREFUSED: its warden is dead. */
static int knock(int sessions, const char *session, const char *door)
{
	_cleanup_close_ int dir = openat(sessions, session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			    fd = -EBADF;
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	if (dir < 0 || faccessat(dir, door, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return -ENOENT;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* A relative path, because a full path may be longer than sun_path, and /proc may be the container's. */
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", door);
	if (fd < 0 || fchdir(dir) < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

static int find_in(DIR *sessions, const char *container, struct fault *f)
{
	_cleanup_close_ int found = -EBADF;
	char door[WARDEN_HANDOVER_SIZE];
	const struct dirent *e;
	int dead = 0;

	warden_handover_name(container, false, door);
	while ((e = readdir(sessions))) {
		int fd = e->d_name[0] == '.' ? -ENOENT : knock(dirfd(sessions), e->d_name, door);

		if (fd >= 0 && found >= 0) {
			(void)fd_close(fd);
			return fault_set(f, EEXIST,
					 "two containers '%s' are being created: delete one of them",
					 container);
		}
		if (fd >= 0)
			found = fd;
		else if (fd != -ENOENT)
			dead = fd;
	}
	if (found >= 0)
		return TAKE_FD(found);
	return dead ? fault_errno(f, -dead,
				  "custody-warden of container '%s' has exited: run 'custody recover'",
				  container)
		    : -ENOENT;
}

int warden_handover_find(const char *run, const char *container, struct fault *f)
{
	_cleanup_free_ char *path = path_join(run, "sessions");
	_cleanup_dir_ DIR *sessions = path ? opendir(path) : NULL;
	int r;

	if (!sessions)
		return path ? -ENOENT : -ENOMEM;
	r = find_in(sessions, container, f);
	if (chdir("/") < 0)
		(void)!chdir(".");
	return r;
}

int warden_handover_send(int door, const struct warden_held *h, struct fault *f)
{
	int fds[HELD_FDS] = { h->tree };
	unsigned int n = 1;
	char word = HELD;
	struct iovec io = { &word, 1 };
	union rights u = { 0 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = u.room };
	struct cmsghdr *c;

	if (h->upper >= 0) {
		word |= HELD_UPPER;
		fds[n++] = h->upper;
	}
	if (h->gate >= 0) {
		word |= HELD_GATE;
		fds[n++] = h->gate;
		fds[n++] = h->gate_dir;
	}
	m.msg_controllen = CMSG_SPACE(n * sizeof(int));
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	if (sendmsg(door, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return fault_errno(f, errno, "send the worktree descriptors to custody-warden");
	return 0;
}

static bool is_dir(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && !(fcntl(fd, F_GETFL) & O_PATH);
}

static bool is_listening(int fd)
{
	socklen_t len = sizeof(int);
	int on = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) == 0 && on;
}

/* Stores all received descriptors, also if they are not what WORD says: the caller closes them. */
static int take_rights(const struct msghdr *m, char word, struct warden_held *ret)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fds[HELD_FDS] = { -EBADF, -EBADF, -EBADF, -EBADF };
	unsigned int bits = (unsigned char)word - (unsigned char)HELD, at = 1, n;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len < CMSG_LEN(sizeof(int)))
		return -EPROTO;
	n = (unsigned int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	if (bits > (HELD_UPPER | HELD_GATE) ||
	    n != 1 + (bits & HELD_UPPER ? 1U : 0U) + (bits & HELD_GATE ? 2U : 0U)) {
		for (unsigned int i = 0; i < n; i++)
			(void)fd_close(fds[i]);
		return -EPROTO;
	}
	ret->tree = fds[0];
	if (bits & HELD_UPPER)
		ret->upper = fds[at++];
	if (bits & HELD_GATE) {
		ret->gate = fds[at++];
		ret->gate_dir = fds[at++];
	}
	return 0;
}

static bool is_complete(const struct warden_held *h)
{
	return is_dir(h->tree) && (h->upper < 0 || is_dir(h->upper)) &&
	       (h->gate < 0 || (is_listening(h->gate) && is_dir(h->gate_dir)));
}

int warden_handover_receive(int door, struct warden_held *ret, struct fault *f)
{
	_cleanup_warden_held_ struct warden_held h = WARDEN_HELD_NONE;
	char word = 0;
	struct iovec io = { &word, 1 };
	union rights u;
	struct msghdr m = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = u.room, .msg_controllen = sizeof(u.room)
	};
	ssize_t n;
	int r;

	do
		n = recvmsg(door, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : fault_errno(f, errno, "receive the worktree descriptors");
	r = take_rights(&m, word, &h);
	if (r < 0 || (m.msg_flags & MSG_CTRUNC) || !is_complete(&h))
		return fault_set(f, EPROTO, "unexpected descriptors instead of the worktree's");
	*ret = h;
	h = WARDEN_HELD_NONE;
	return 1;
}

void warden_handover_shut(int sessionfd, const char *container)
{
	char door[WARDEN_HANDOVER_SIZE], held[WARDEN_HANDOVER_SIZE];

	warden_handover_name(container, false, door);
	warden_handover_name(container, true, held);
	(void)renameat(sessionfd, door, sessionfd, held);
}
