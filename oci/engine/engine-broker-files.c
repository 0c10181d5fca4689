/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-broker-files.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/new-mount.h"
#include "base/path.h"
#include "broker/broker-token.h"
#include "subject/placement.h"

#define PROGRAM_MAX ((size_t)384 * 1024)
#define TMPFS_SIZE "1M"
#define TMPFS_INODES "8"

static int make_tmpfs(int *ret, struct fault *f)
{
	_cleanup_close_ int fs = -EBADF;
	int r = new_mount_open("tmpfs", &fs, f);

	if (r == 0)
		r = new_mount_set(fs, "size", TMPFS_SIZE, f);
	if (r == 0)
		r = new_mount_set(fs, "nr_inodes", TMPFS_INODES, f);
	if (r == 0)
		r = new_mount_set(fs, "mode", "0700", f);
	return r < 0 ? r : new_mount_finish(fs, 0, ret, f);
}

static int make_file(int dir, const char *name, mode_t mode, const char *text, size_t len, int *ret,
		     struct fault *f)
{
	_cleanup_close_ int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0);
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "create the broker's '%s'", name);
	r = fd_write_all(fd, text, len, f);
	if (r == 0 && fchmod(fd, mode) < 0)
		r = fault_errno(f, errno, "mode of the broker's '%s'", name);
	if (r == 0)
		*ret = TAKE_FD(fd);
	return r;
}

/* A copy: its directory on the host may be closed to the users of the container's user namespace. */
static int copy_program(int dir, const char *libexec, const char *name, struct fault *f)
{
	_cleanup_free_ char *path = path_join(libexec, name), *text = NULL;
	_cleanup_close_ int from = path ? open(path, O_RDONLY | O_CLOEXEC) : -1, to = -EBADF;
	size_t len;
	int r;

	if (!path)
		return fault_errno(f, ENOMEM, "container");
	if (from < 0)
		return fault_errno(f, errno, "%s at '%s': run 'make install', or set CUSTODY_LIBEXEC", name,
				   path);
	r = fd_read_all(from, PROGRAM_MAX, &text, &len, f);
	return r < 0 ? r : make_file(dir, name, 0555, text, len, &to, f);
}

/* Never with another mode: bind takes it from the socket. */
static int make_socket(int dir, int *ret, struct fault *f)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/" BROKER_SOCKET, dir);
	if (fd < 0 || fchmod(fd, 0600) < 0 || bind(fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		return fault_errno(f, errno, "create the broker's socket");
	*ret = TAKE_FD(fd);
	return 0;
}

static int write_token(int dir, const struct engine_broker *b, struct digest *ret, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	char token[BROKER_TOKEN_SIZE];
	int r = broker_token_make(token, ret, f);

	if (r == 0)
		r = make_file(dir, BROKER_TOKEN, 0400, token, strlen(token), &fd, f);
	explicit_bzero(token, sizeof(token));
	if (r == 0 && fchown(fd, b->uid, b->gid) < 0)
		r = fault_errno(f, errno, "chown the broker's token");
	return r;
}

static int give_away(int dir, const struct engine_broker *b, struct fault *f)
{
	if (fchownat(dir, BROKER_SOCKET, b->uid, b->gid, AT_SYMLINK_NOFOLLOW) < 0 ||
	    fchown(dir, b->uid, b->gid) < 0)
		return fault_errno(f, errno, "chown '%s' of the container", CUSTODY_DIR);
	return 0;
}

int engine_broker_files_make(const struct engine_broker *b, const char *libexec,
			     struct engine_broker_files *ret, struct fault *f)
{
	_cleanup_(engine_broker_files_done) struct engine_broker_files x = ENGINE_BROKER_FILES_NONE;
	_cleanup_close_ int dir = -EBADF;
	int r = make_tmpfs(&x.mount, f);

	if (r < 0)
		return r;
	dir = openat(x.mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return fault_errno(f, errno, "'%s' of the container", CUSTODY_DIR);
	r = copy_program(dir, libexec, strrchr(CALL_PATH, '/') + 1, f);
	if (r == 0)
		r = copy_program(dir, libexec, strrchr(MCP_PATH, '/') + 1, f);
	if (r == 0)
		r = make_socket(dir, &x.socket, f);
	if (r == 0)
		r = write_token(dir, b, &x.token, f);
	if (r == 0)
		r = give_away(dir, b, f);
	if (r < 0)
		return r;
	*ret = x;
	x = ENGINE_BROKER_FILES_NONE;
	return 0;
}

void engine_broker_files_done(struct engine_broker_files *x)
{
	x->mount = fd_close(x->mount);
	x->socket = fd_close(x->socket);
}

int engine_broker_files_attach(const struct engine_broker_files *x, const char *path, struct fault *f)
{
	/* Slave: what the engine mounts or unmounts meanwhile is seen here, and nothing of here there. */
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return fault_errno(f, errno, "mount namespace for the broker's socket");
	if (syscall(SYS_move_mount, x->mount, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return fault_errno(f, errno, "mount the broker's directory on '%s'", path);
	(void)close(x->mount);
	return 0;
}
