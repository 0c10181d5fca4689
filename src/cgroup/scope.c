/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroup/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "cgroup/cgroup-file.h"
#include "cgroup/cgroup-host.h"
#include "cgroup/scope-proto.h"

#define SOCKET "systemd/private"
#define MS UINT64_C(1000000)

/* --- the user's systemd ----------------------------------------------------------------------------------------- */

/*
 * After `su` or `sudo` the variable still names the directory of another user.  DBUS_SESSION_BUS_ADDRESS is not read: it may
 * name a command to execute, or a bus on which no systemd is.
 */
static int connect_in(const char *dir, int *ret, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct stat st;
	int n = snprintf(at.sun_path, sizeof(at.sun_path), "%s/" SOCKET, dir);

	if (dir[0] != '/' || n < 0 || (size_t)n >= sizeof(at.sun_path) || stat(dir, &st) < 0 ||
	    st.st_uid != geteuid())
		return fault_set(f, ENOENT, "this user has no systemd of its own in '%s'", dir);
	/* Non-blocking: one that accepts no connections fails with EAGAIN when its queue is full. */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
		return errno == ENOENT
			       ? fault_set(f, ENOENT, "this user has no systemd of its own in '%s'", dir)
			       : fault_errno(f, errno, "connect to '%s'", at.sun_path);
	*ret = TAKE_FD(fd);
	return 0;
}

static int connect_socket(int *ret, struct fault *f)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	char usual[48];
	int r = dir ? connect_in(dir, ret, f) : -ENOENT;

	if (r != -ENOENT)
		return r;
	if (dir && f)
		fault_done(f);
	(void)snprintf(usual, sizeof(usual), "/run/user/%u", (unsigned int)geteuid());
	return connect_in(usual, ret, f);
}

/*
 * What systemd itself may pass on: the controllers of the cgroup above its own init.scope.  Where that cannot be read, its
 * answer and the scope decide.
 */
static int require_controllers(pid_t manager, unsigned int want, struct fault *f)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };
	_cleanup_strbuf_ struct strbuf names = { 0 };
	_cleanup_close_ int fd = -EBADF;
	char text[CGROUP_TEXT_MAX];

	if (cgroup_host_load_of(manager, &h, NULL) < 0 || !h.v2 || !str_ends(h.v2, "/init.scope"))
		return 0;
	*strrchr(h.v2, '/') = '\0';
	fd = open(h.v2, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || cgroup_file_read(fd, "cgroup.controllers", text) < 0)
		return 0;
	for (unsigned int i = 0; i < _CGROUP_CONTROLLER_MAX; i++)
		if ((want & CGROUP_BIT(i)) && !cgroup_text_has(text, cgroup_controller_name(i)))
			strbuf_printf(&names, "%s%s", names.len ? ", " : "", cgroup_controller_name(i));
	return names.len ? fault_set(f, ENOTSUP, "the user's systemd itself has no controller %s (in '%s')",
				     names.text, h.v2)
			 : 0;
}

int scope_connect(unsigned int controllers, int *ret_fd, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);
	int r = connect_socket(&fd, f);

	if (r < 0)
		return r;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return fault_errno(f, errno, "identify the user's systemd");
	if (peer.uid != geteuid())
		return fault_set(f, EPERM,
				 "the process behind the socket of the user's systemd belongs to user %u",
				 (unsigned int)peer.uid);
	/* The pid that it is asked to move would be another process there. */
	if (peer.pid <= 0)
		return fault_set(f, ENOTSUP, "the user's systemd is outside of this pid namespace");
	r = require_controllers(peer.pid, controllers, f);
	if (r == 0)
		*ret_fd = TAKE_FD(fd);
	return r;
}

/* --- custody-scope -------------------------------------------------------------------------------------------------- */

/* CONTROL and BUS are above their numbers in the child, so that neither dup2 closes the other one. */
static int spawn(const char *path, const char *session, int control, int bus, pid_t *ret)
{
	char *argv[] = { (char *)SCOPE_PROGRAM, (char *)session, NULL };
	char *envp[] = { (char *)"LC_ALL=C", NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	int r;

	(void)sigemptyset(&none);
	(void)posix_spawn_file_actions_init(&files);
	/* It lives as long as the run: it must not hold the caller's pipes. */
	for (int i = 0; i <= STDERR_FILENO; i++)
		(void)posix_spawn_file_actions_addopen(&files, i, "/dev/null", O_RDWR, 0);
	(void)posix_spawn_file_actions_adddup2(&files, control, SCOPE_CONTROL_FD);
	(void)posix_spawn_file_actions_adddup2(&files, bus, SCOPE_BUS_FD);
	(void)posix_spawnattr_init(&attr);
	(void)posix_spawnattr_setsigmask(&attr, &none);
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	r = posix_spawn(ret, path, &files, &attr, argv, envp);
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&files);
	return -r;
}

static int start(struct scope *s, const char *path, const char *session, int bus, struct fault *f)
{
	_cleanup_close_ int control = -EBADF, far = fcntl(bus, F_DUPFD_CLOEXEC, SCOPE_BUS_FD + 1);
	int pair[2], r;

	if (far < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fault_errno(f, errno, "start " SCOPE_PROGRAM);
	s->fd = pair[0];
	control = fcntl(pair[1], F_DUPFD_CLOEXEC, SCOPE_BUS_FD + 1);
	(void)fd_close(pair[1]);
	if (control < 0)
		return fault_errno(f, errno, "start " SCOPE_PROGRAM);
	r = spawn(path, session, control, far, &s->holder);
	if (r == -ENOENT)
		return fault_set(f, ENOENT,
				 "'%s' is missing; install libsystemd0, build and install custody again",
				 path);
	if (r < 0) {
		s->holder = -1;
		return fault_errno(f, -r, "start '%s'", path);
	}
	/* A pid is reused once any other code of ours has reaped the process. */
	s->pidfd = (int)syscall(SYS_pidfd_open, s->holder, 0);
	return s->pidfd < 0 ? fault_errno(f, errno, "watch " SCOPE_PROGRAM) : 0;
}

int scope_open(struct scope *ret, const char *libexec, const char *session, unsigned int controllers,
	       struct fault *f)
{
	_cleanup_scope_ struct scope s = SCOPE_NONE;
	_cleanup_free_ char *path = path_join(libexec, SCOPE_PROGRAM);
	_cleanup_close_ int bus = -EBADF;
	int r;

	if (!path || asprintf(&s.name, "custody-%s.scope", session) < 0) {
		s.name = NULL;
		return fault_errno(f, ENOMEM, "scope");
	}
	r = scope_connect(controllers, &bus, f);
	if (r == 0)
		r = start(&s, path, session, bus, f);
	if (r < 0)
		return r;
	*ret = s;
	s = SCOPE_NONE;
	return 0;
}

void scope_done(struct scope *s)
{
	s->fd = fd_close(s->fd);
	if (s->pidfd >= 0) {
		(void)syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
		while (waitid(P_PIDFD, (id_t)s->pidfd, &(siginfo_t){ 0 }, WEXITED) < 0 && errno == EINTR)
			;
	}
	s->pidfd = fd_close(s->pidfd);
	free(s->name);
	*s = SCOPE_NONE;
}

/* --- one request -------------------------------------------------------------------------------------------------- */

int scope_ask(struct scope *s, pid_t member, struct fault *f)
{
	const struct scope_request request = { .pid = member };

	s->member = member;
	s->until_ns = clock_boot_ns() + SCOPE_WAIT_MS * MS;
	if (send(s->fd, &request, sizeof(request), MSG_NOSIGNAL) < 0)
		return fault_errno(f, errno, SCOPE_PROGRAM " has exited");
	return 0;
}

static int receive(struct scope *s, struct scope_answer *ret, struct fault *f)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	ssize_t n;
	int r;

	do {
		uint64_t now = clock_boot_ns();

		r = poll(&p, 1, now < s->until_ns ? (int)((s->until_ns - now) / MS) + 1 : 0);
	} while (r < 0 && errno == EINTR);
	if (r == 0)
		return fault_set(f, ETIMEDOUT, "the user's systemd did not answer within %d seconds",
				 SCOPE_WAIT_MS / 1000);
	n = recv(s->fd, ret, sizeof(*ret), MSG_DONTWAIT);
	if (n != sizeof(*ret))
		return fault_set(f, EIO, SCOPE_PROGRAM " exited without an answer");
	ret->text[sizeof(ret->text) - 1] = '\0';
	return 0;
}

int scope_wait(struct scope *s, char **ret_dir, struct fault *f)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };
	struct scope_answer answer = { 0 };
	const char *slash;
	int r = receive(s, &answer, f);

	if (r < 0)
		return r;
	if (answer.code)
		return fault_set(f, answer.code, "the user's systemd refused a scope: %s", answer.text);
	/* The kernel's word, not the peer's. */
	r = cgroup_host_load_of(s->member, &h, f);
	if (r < 0)
		return r;
	slash = h.v2 ? strrchr(h.v2, '/') : NULL;
	if (!slash || !str_eq(slash + 1, s->name))
		return fault_set(f, ESTALE, "the user's systemd reported success, but process %d is in '%s'",
				 (int)s->member, h.v2 ? h.v2 : "no cgroup");
	*ret_dir = TAKE_PTR(h.v2);
	return 0;
}
