/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/broker-peer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define CGROUP_TEXT_MAX ((size_t)64 * 1024)
#define NAMESPACES_MAX 33 /* the kernel nests 32 */

static int read_cgroup(pid_t pid, char **ret, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	char path[48];
	size_t len;

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	return fd_read_all(fd, CGROUP_TEXT_MAX, ret, &len, f);
}

static int open_pid_ns(pid_t pid)
{
	char path[48];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Cuts LINE behind NAME, whole components of its path; false: it does not have them. */
static bool cut_at(char *line, const char *name)
{
	const size_t len = strlen(name);

	for (char *at = line; (at = strstr(at, name)); at++)
		if (!at[len] || at[len] == '/') {
			at[len] = '\0';
			return true;
		}
	return false;
}

/* "N:name=X:PATH", without controllers: a command that `podman exec` starts stays in its caller's. */
static bool is_named(const char *line)
{
	const char *controllers = strchr(line, ':');

	return controllers && str_starts(controllers + 1, "name=");
}

/* Lines that have the session's own directory.  Those of hierarchies that custody or an engine does not use are the caller's. */
static int find_cgroups(struct broker_peers *p, char *text, const char *name, struct fault *f)
{
	for (char *line = text; *line;) {
		char *end = line + strcspn(line, "\n");
		const bool more = *end;

		*end = '\0';
		if (!is_named(line) && cut_at(line, name) && strv_append(&p->cgroups, line) < 0)
			return fault_errno(f, ENOMEM, "cgroups");
		line = end + more;
	}
	return 0;
}

int broker_peers_init(struct broker_peers *p, const struct broker_peers_of *of, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int ns = open_pid_ns(of->init);
	struct stat st, own;
	int r;

	*p = (struct broker_peers){ 0 };
	r = read_cgroup(of->init, &text, f);
	if (r == 0)
		r = find_cgroups(p, text, of->cgroup, f);
	if (r < 0)
		return r;
	if (ns < 0 || fstat(ns, &st) < 0 || stat("/proc/self/ns/pid", &own) < 0)
		return fault_errno(f, errno, "pid namespace of the first process");
	if (st.st_dev != own.st_dev || st.st_ino != own.st_ino) {
		p->ns_dev = st.st_dev;
		p->ns_ino = st.st_ino;
	}
	if (!p->cgroups && (!p->ns_ino || of->pid_shared))
		return fault_set(
			f, ENOTSUP,
			"the session has neither a cgroup nor a pid namespace of its own: the broker "
			"cannot tell its processes from others");
	return 0;
}

void broker_peers_done(struct broker_peers *p)
{
	strv_free(p->cgroups);
	*p = (struct broker_peers){ 0 };
}

/* LINE is "HIERARCHY:CONTROLLERS:PATH"; the process may be in a cgroup below it. */
static bool has_line(const char *text, const char *line)
{
	const size_t len = strlen(line);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, line, len) == 0 && (at[len] == '\n' || at[len] == '/' || !at[len]))
			return true;
	}
	return false;
}

bool broker_peer_has_cgroup(char *const *lines, const char *text)
{
	for (; lines && *lines; lines++)
		if (!has_line(text, *lines))
			return false;
	return true;
}

bool broker_peer_is_below(pid_t pid, uint64_t dev, uint64_t ino)
{
	int ns = open_pid_ns(pid);

	for (int n = 0; ns >= 0 && n < NAMESPACES_MAX; n++) {
		struct stat st;
		int up;

		if (fstat(ns, &st) == 0 && st.st_dev == dev && st.st_ino == ino) {
			(void)fd_close(ns);
			return true;
		}
		up = ioctl(ns, NS_GET_PARENT);
		(void)fd_close(ns);
		ns = up;
	}
	(void)fd_close(ns);
	return false;
}

/* Kernels before 6.5: by number.  The number may be another process's by now, whose cgroup and namespace are then judged. */
static int open_peer(int fd, pid_t pid)
{
	socklen_t len = sizeof(int);
	int pidfd = -EBADF;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == 0)
		return pidfd;
	return errno == ENOPROTOOPT ? (int)syscall(SYS_pidfd_open, pid, 0) : -errno;
}

bool broker_peers_has(const struct broker_peers *p, int fd)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int pidfd = -EBADF;
	struct pollfd alive = { .events = POLLIN };
	struct ucred c;
	socklen_t len = sizeof(c);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &len) < 0 || c.pid <= 0)
		return false;
	pidfd = alive.fd = open_peer(fd, c.pid);
	if (pidfd < 0 || read_cgroup(c.pid, &text, NULL) < 0 || !broker_peer_has_cgroup(p->cgroups, text))
		return false;
	if (p->ns_ino && !broker_peer_is_below(c.pid, p->ns_dev, p->ns_ino))
		return false;
	/* Last: until here the number was not given to another process. */
	return poll(&alive, 1, 0) == 0;
}
