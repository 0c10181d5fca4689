/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/init-peer.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMESPACES                                                                                 \
	(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | \
	 CLONE_NEWCGROUP)

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

bool peer_map_ids(uid_t uid, gid_t gid)
{
	char line[64];

	snprintf(line, sizeof(line), "0 %u 1", uid);
	if (!write_file("/proc/self/uid_map", line))
		return false;
	snprintf(line, sizeof(line), "0 %u 1", gid);
	return write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/gid_map", line);
}

static bool prepare_mounts(const struct peer_setup *s)
{
	if (mount(NULL, "/", "none", MS_REC | MS_PRIVATE, NULL) < 0)
		return false;
	if (!s->no_proc && mount("proc", "/proc", "proc", 0, NULL) < 0)
		return false;
	return !s->pts || mount("devpts", "/dev/pts", "devpts", 0, "newinstance,ptmxmode=0666,mode=620") == 0;
}

/* The parent writes these maps: they need its capabilities. */
static bool map_child(const struct peer_setup *s, pid_t pid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	if (!write_file(path, s->uid_map))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/gid_map", (int)pid);
	return write_file(path, s->gid_map);
}

/* In the new namespaces.  Returns only when something failed. */
static void become_init(const struct peer_setup *s, int socket, int out, uid_t uid, gid_t gid)
{
	static char *const path_only[] = { (char *)"PATH=/usr/bin:/bin", NULL };
	const char *build = getenv("BUILDDIR");
	char *argv[32] = { (char *)"custody-init" };
	char program[4096];
	int status;

	if ((!s->uid_map && !peer_map_ids(uid, gid)) || !prepare_mounts(s))
		return;
	if (s->not_first) {
		pid_t child = fork();

		if (child > 0) {
			waitpid(child, &status, 0);
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
		}
	}
	if (!s->no_session)
		setsid();
	for (int i = 0; s->args[i] && i < 30; i++)
		argv[i + 1] = s->args[i];
	snprintf(program, sizeof(program), "%s/custody-init", build ? build : ".");
	/* Above the numbers that are about to be replaced. */
	socket = fcntl(socket, F_DUPFD, 10);
	out = fcntl(out, F_DUPFD, 10);
	dup2(open("/dev/null", O_RDONLY), 0);
	dup2(out, 1);
	dup2(out, 2);
	if (!s->no_socket)
		dup2(socket, 3);
	close_range(s->no_socket ? 3 : 4, ~0U, 0);
	if (s->before_exec && !s->before_exec())
		return;
	execve(program, argv, s->env ? s->env : path_only);
}

bool peer_start(const struct peer_setup *s, struct peer *ret)
{
	int pair[2], ends[2], hold[2];
	uid_t uid = geteuid();
	gid_t gid = getegid();
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 || pipe2(ends, O_CLOEXEC) < 0 ||
	    pipe2(hold, O_CLOEXEC) < 0)
		return false;
	fflush(stdout);
	pid = (pid_t)syscall(SYS_clone, (NAMESPACES & ~s->without) | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		char word;

		close(hold[1]);
		if (!s->uid_map || read(hold[0], &word, 1) == 1)
			become_init(s, pair[1], ends[1], uid, gid);
		_exit(98);
	}
	close(pair[1]);
	close(ends[1]);
	if (pid > 0 && s->uid_map && map_child(s, pid))
		(void)!write(hold[1], "", 1);
	close(hold[0]);
	close(hold[1]);
	*ret = (struct peer){ .pid = pid, .socket = pair[0], .out = ends[0], .master = -1 };
	return pid > 0;
}

bool peer_possible(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, NAMESPACES | SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0)
		_exit(0);
	return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

bool peer_receive(struct peer *p, struct init_msg *ret)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = ret, .iov_len = sizeof(*ret) };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c;

	if (recvmsg(p->socket, &m, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(*ret))
		return false;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&p->master, CMSG_DATA(c), sizeof(p->master));
	return ret->magic == INIT_PROTO_MAGIC;
}

bool peer_send(const struct peer *p, enum init_msg_type type, int value)
{
	struct init_msg m = { .magic = INIT_PROTO_MAGIC, .type = type, .value = value };

	return send(p->socket, &m, sizeof(m), MSG_NOSIGNAL) == (ssize_t)sizeof(m);
}

bool peer_expect(int fd, const char *text)
{
	char seen[4096];
	size_t len = 0;

	while (len + 1 < sizeof(seen)) {
		ssize_t n = read(fd, seen + len, sizeof(seen) - 1 - len);

		if (n <= 0)
			return false;
		len += (size_t)n;
		seen[len] = '\0';
		if (strstr(seen, text))
			return true;
	}
	return false;
}

void peer_read_all(int fd, char *buffer, size_t room)
{
	size_t len = 0;
	ssize_t n;

	while (len + 1 < room && (n = read(fd, buffer + len, room - 1 - len)) > 0)
		len += (size_t)n;
	buffer[len] = '\0';
}

void peer_close_socket(struct peer *p)
{
	if (p->socket >= 0)
		close(p->socket);
	p->socket = -1;
}

int peer_wait(struct peer *p)
{
	int status = -1;

	if (waitpid(p->pid, &status, 0) != p->pid)
		status = -1;
	peer_close_socket(p);
	close(p->out);
	if (p->master >= 0)
		close(p->master);
	return status;
}
