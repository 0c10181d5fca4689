/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/doctor-decoy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "doctor/canary.h"

static int lay_files(struct decoy *b, struct fault *f)
{
	const char *tmp = getenv("TMPDIR");
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *dir = NULL;

	if (asprintf(&dir, "%s/custody-doctor-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp") < 0) {
		dir = NULL;
		return fault_errno(f, ENOMEM, "doctor");
	}
	b->back_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!mkdtemp(dir))
		return fault_errno(f, errno, "create '%s'", dir);
	b->dir = TAKE_PTR(dir);
	b->trace = path_join(b->dir, "custody-canary-was-here");
	b->secret = path_join(b->dir, "secret");
	if (!b->trace || !b->secret)
		return fault_errno(f, ENOMEM, "doctor");
	if (chmod(b->dir, 0755) < 0 || chdir(b->dir) < 0)
		return fault_errno(f, errno, "'%s'", b->dir);
	fd = open(b->secret, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return fault_errno(f, errno, "create '%s'", b->secret);
	return setenv("CUSTODY_DOCTOR_SECRET", "seen", 1) < 0 ? fault_errno(f, errno, "doctor") : 0;
}

/* World-writable: their modes must not be what stops the canary.  The names are relative, for those of sockets are short. */
static int lay_channels(int fds[2], struct fault *f)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = CANARY_SOCKET };

	fds[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fds[0] < 0 || bind(fds[0], (const struct sockaddr *)&un, sizeof(un)) < 0 ||
	    chmod(CANARY_SOCKET, 0666) < 0 || listen(fds[0], 4) < 0)
		return fault_errno(f, errno, "listen on a socket");
	if (mkfifo(CANARY_FIFO, 0666) < 0 || chmod(CANARY_FIFO, 0666) < 0)
		return fault_errno(f, errno, "create a FIFO");
	fds[1] = open(CANARY_FIFO, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fds[1] < 0 ? fault_errno(f, errno, "open a FIFO") : 0;
}

static int lay_trees(struct decoy *b, struct fault *f)
{
	int r;

	b->tree = path_join(b->dir, "tree");
	if (!b->tree)
		return fault_errno(f, ENOMEM, "doctor");
	if (mkdir(b->tree, 0755) < 0 || chmod(b->tree, 0755) < 0 || chdir(b->tree) < 0)
		return fault_errno(f, errno, "'%s'", b->tree);
	r = lay_channels(b->channel_fds, f);
	if (chdir(b->dir) < 0)
		return fault_errno(f, errno, "'%s'", b->dir);
	return r < 0 ? r : lay_channels(b->channel_fds + 2, f);
}

static void remove_trees(struct decoy *b)
{
	static const char *const names[] = { CANARY_SOCKET, CANARY_FIFO };
	const char *const dirs[] = { b->tree, b->dir };

	for (size_t i = 0; i < 4; i++) {
		_cleanup_free_ char *path = dirs[i / 2] ? path_join(dirs[i / 2], names[i % 2]) : NULL;

		if (path)
			(void)unlink(path);
		(void)fd_close(b->channel_fds[i]);
	}
	if (b->tree)
		(void)rmdir(b->tree);
	free(b->tree);
}

/* Connections are never accepted; a successful connect() is the finding. */
static int lay_sockets(struct decoy *b, struct fault *f)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t len = sizeof(in);

	(void)snprintf(b->socket, sizeof(b->socket), "custody-doctor-%d", (int)getpid());
	memcpy(un.sun_path + 1, b->socket, strlen(b->socket));
	b->socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (b->socket_fd < 0 ||
	    bind(b->socket_fd, (const struct sockaddr *)&un,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(b->socket))) < 0 ||
	    listen(b->socket_fd, 4) < 0)
		return fault_errno(f, errno, "listen on an abstract socket");
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	b->port_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (b->port_fd < 0 || bind(b->port_fd, (const struct sockaddr *)&in, sizeof(in)) < 0 ||
	    listen(b->port_fd, 4) < 0 || getsockname(b->port_fd, (struct sockaddr *)&in, &len) < 0)
		return fault_errno(f, errno, "listen on 127.0.0.1");
	b->port = ntohs(in.sin_port);
	return 0;
}

/* Marked for removal at once: it exists while it is attached, and can still be found by its id. */
static int lay_memory(struct decoy *b, struct fault *f)
{
	b->shm = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0666);
	if (b->shm < 0)
		return fault_errno(f, errno, "create shared memory");
	b->memory = shmat(b->shm, NULL, 0);
	(void)shmctl(b->shm, IPC_RMID, NULL);
	if (b->memory == (void *)-1) {
		b->memory = NULL;
		return fault_errno(f, errno, "attach shared memory");
	}
	return 0;
}

int doctor_decoy_setup(struct decoy *b, struct fault *f)
{
	int r;

	if (gethostname(b->hostname, sizeof(b->hostname) - 1) < 0)
		return fault_errno(f, errno, "hostname");
	r = lay_files(b, f);
	if (r == 0)
		r = lay_trees(b, f);
	if (r == 0)
		r = lay_sockets(b, f);
	if (r == 0)
		r = lay_memory(b, f);
	return r;
}

void doctor_decoy_remove(struct decoy *b)
{
	(void)unsetenv("CUSTODY_DOCTOR_SECRET");
	if (b->back_fd >= 0)
		(void)!fchdir(b->back_fd);
	if (b->secret)
		(void)unlink(b->secret);
	if (b->trace)
		(void)unlink(b->trace);
	remove_trees(b);
	if (b->dir)
		(void)rmdir(b->dir);
	if (b->memory)
		(void)shmdt(b->memory);
	(void)fd_close(b->socket_fd);
	(void)fd_close(b->port_fd);
	(void)fd_close(b->back_fd);
	free(b->dir);
	free(b->trace);
	free(b->secret);
	*b = (struct decoy)DECOY_NONE;
}
