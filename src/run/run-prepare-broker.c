/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "broker/broker-token.h"
#include "run/run-prepare-impl.h"
#include "warden/creator.h"

/*
 * /run/custody of a session with a broker: 0700, with a 0600 socket and a 0400 token that belong to the command's user.  All
 * of it is on the private tmpfs of the container's root; the host never sees it.
 */

/* The host's id of the command's user: with one id it is that one. */
static int find_owner(const struct run_prepare *p, const struct placement *pl, uid_t *uid, gid_t *gid,
		      struct fault *f)
{
	const struct subject *s = p->subject;

	*uid = pl->n_ids == 1 ? pl->uid_base : pl->uid_base + s->uid;
	*gid = pl->n_ids == 1 ? pl->gid_base : pl->gid_base + s->gid;
	if (pl->ids && (s->uid != 0 || s->gid != 0))
		return fault_set(f, ENOTSUP,
				 "a broker and process.user %u:%u together need root: a user cannot give the "
				 "socket to a subordinate id; set process.user to root",
				 s->uid, s->gid);
	if (!run_prepare_is_mapped(s)) {
		*uid = s->uid;
		*gid = s->gid;
	}
	return 0;
}

/* Never with another mode: bind takes it from the socket.  By a short path: sun_path holds 108 bytes. */
static int make_socket(int dir, struct fault *f)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/" BROKER_SOCKET, dir);
	if (fchmod(CREATOR_KEEP_ALSO_FD, 0600) < 0 ||
	    bind(CREATOR_KEEP_ALSO_FD, (const struct sockaddr *)&a, sizeof(a)) < 0)
		return fault_errno(f, errno, "create the broker's socket");
	return 0;
}

static int write_token(int dir, char *token, uid_t uid, gid_t gid, struct fault *f)
{
	_cleanup_close_ int fd =
		openat(dir, BROKER_TOKEN, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "create the broker's token");
	r = fd_write_all(fd, token, strlen(token), f);
	explicit_bzero(token, BROKER_TOKEN_SIZE);
	if (r == 0 && fchown(fd, uid, gid) < 0)
		r = fault_errno(f, errno, "chown the broker's token");
	return r;
}

int run_prepare_broker(const struct run_prepare *p, int root, const struct placement *pl, struct fault *f)
{
	_cleanup_close_ int dir = -EBADF;
	uid_t uid;
	gid_t gid;
	int r = find_owner(p, pl, &uid, &gid, f);

	if (r < 0)
		return r;
	dir = openat(root, &CUSTODY_DIR[1], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || fchmod(dir, 0700) < 0)
		return fault_errno(f, errno, "'%s' of the container", CUSTODY_DIR);
	r = make_socket(dir, f);
	if (r == 0)
		r = write_token(dir, p->token, uid, gid, f);
	if (r == 0 &&
	    (fchownat(dir, BROKER_SOCKET, uid, gid, AT_SYMLINK_NOFOLLOW) < 0 || fchown(dir, uid, gid) < 0))
		r = fault_errno(f, errno, "chown '%s' of the container", CUSTODY_DIR);
	/* The supervisor has the other one. */
	(void)fd_close(CREATOR_KEEP_ALSO_FD);
	return r;
}
