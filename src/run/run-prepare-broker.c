/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/userns.h"
#include "broker/broker-token.h"
#include "run/run-prepare-impl.h"
#include "warden/creator.h"

#define ANSWER_MAX 4096

/*
 * /run/custody of a session with a broker: 0700, with a 0600 socket and a 0400 token that belong to the command's user.  All
 * of it is on the private tmpfs of the container's root; the host never sees it.
 */

struct owner {
	uid_t uid;
	gid_t gid;
	bool other; /* a subordinate id, which only a user namespace with this id can give to a file */
};

/* The host's ids of the command's user: with one id it is that one. */
static int find_owner(const struct run_prepare *p, const struct placement *pl, struct owner *ret,
		      struct fault *f)
{
	const struct subject *s = p->subject;

	*ret = (struct owner){ .uid = pl->n_ids == 1 ? pl->uid_base : pl->uid_base + s->uid,
			       .gid = pl->n_ids == 1 ? pl->gid_base : pl->gid_base + s->gid };
	if (pl->ids && (!id_extents_find(&pl->ids->uid, s->uid, &ret->uid) ||
			!id_extents_find(&pl->ids->gid, s->gid, &ret->gid)))
		return fault_set(f, EPERM,
				 "process.user %u:%u has no subordinate id, which the broker's socket needs: "
				 "grant more of them (custody setup), or set process.user to root",
				 s->uid, s->gid);
	ret->other = pl->ids && (s->uid != 0 || s->gid != 0);
	if (!run_prepare_is_mapped(s)) {
		ret->uid = s->uid;
		ret->gid = s->gid;
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

static int write_token(int dir, char *token, struct fault *f)
{
	_cleanup_close_ int fd =
		openat(dir, BROKER_TOKEN, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "create the broker's token");
	r = fd_write_all(fd, token, strlen(token), f);
	explicit_bzero(token, BROKER_TOKEN_SIZE);
	return r;
}

static int give_files(int dir, const struct owner *o, struct fault *f)
{
	if (fchownat(dir, BROKER_TOKEN, o->uid, o->gid, AT_SYMLINK_NOFOLLOW) < 0 ||
	    fchownat(dir, BROKER_SOCKET, o->uid, o->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return fault_errno(f, errno, "chown the broker's token and socket");
	return 0;
}

static _Noreturn void give_in_namespace(int dir, const struct owner *o, const struct id_map *ids, int out)
{
	const struct id_map same = id_map_identity(ids);
	struct fault f = { 0 };
	int r;

	/* Else root would own /proc/self/uid_map. */
	(void)prctl(PR_SET_DUMPABLE, 1);
	r = userns_enter_map(&same, &f);
	if (r == 0)
		r = give_files(dir, o, &f);
	if (r < 0)
		(void)!fd_write_all(out, fault_text(&f), strlen(fault_text(&f)), NULL);
	_exit(r < 0);
}

/* A user namespace cannot be left: by a child. */
static int give_to_other(int dir, const struct owner *o, const struct id_map *ids, struct fault *f)
{
	_cleanup_close_ int in = -EBADF;
	_cleanup_free_ char *why = NULL;
	int pair[2], status = -1;
	size_t len;
	pid_t pid;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "owner of the broker's files");
	pid = fork();
	if (pid == 0)
		give_in_namespace(dir, o, ids, pair[1]);
	(void)fd_close(pair[1]);
	in = pair[0];
	if (pid < 0)
		return fault_errno(f, errno, "owner of the broker's files");
	if (fd_read_all(in, ANSWER_MAX, &why, &len, NULL) < 0)
		len = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return fault_set(f, EPERM, "give the broker's socket to the subordinate id %u:%u: %s", o->uid, o->gid,
			 len ? why : "the process that does it exited");
}

/*
 * The caller keeps the directory if the ids are subordinate ones: with the session it has to be removed by the caller, who must not
 * write into a directory of others.  The modes of token and socket are enough.
 */
static int give_away(int dir, const struct owner *o, const struct id_map *ids, struct fault *f)
{
	int r = o->other ? give_to_other(dir, o, ids, f) : give_files(dir, o, f);

	if (r == 0 && (o->other ? fchmod(dir, 0711) : fchown(dir, o->uid, o->gid)) < 0)
		r = fault_errno(f, errno, "owner of '%s' of the container", CUSTODY_DIR);
	return r;
}

int run_prepare_broker(const struct run_prepare *p, int root, const struct placement *pl, struct fault *f)
{
	_cleanup_close_ int dir = -EBADF;
	struct owner owner;
	int r = find_owner(p, pl, &owner, f);

	if (r < 0)
		return r;
	dir = openat(root, &CUSTODY_DIR[1], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || fchmod(dir, 0700) < 0)
		return fault_errno(f, errno, "'%s' of the container", CUSTODY_DIR);
	r = make_socket(dir, f);
	if (r == 0)
		r = write_token(dir, p->token, f);
	if (r == 0)
		r = give_away(dir, &owner, pl->ids, f);
	/* The supervisor has the other one. */
	(void)fd_close(CREATOR_KEEP_ALSO_FD);
	return r;
}
