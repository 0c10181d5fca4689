/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "approval/approval-store-impl.h"

static const struct approval_rules strict = { 0 };

/* A user with write access here would choose which keys count and which uses are spent. */
static int require_own(int fd, const char *path, struct fault *f)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "stat '%s'", path);
	if (st.st_uid != geteuid())
		return fault_set(f, EPERM,
				 "'%s' belongs to uid %u, not to you: approve with a key of your own and "
				 "copy the grant there as a file",
				 path, (unsigned int)st.st_uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return fault_set(f, EPERM, "'%s' is writable by other users: chmod go-w '%s'", path, path);
	return 0;
}

/* Set once at login and kept by the kernel across every change of uid; 4294967295 before a login. */
static uid_t login_uid(void)
{
	_cleanup_close_ int fd = open("/proc/self/loginuid", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	uint64_t uid;
	size_t len;

	if (fd < 0 || fd_read_all(fd, 32, &text, &len, NULL) < 0 || str_to_u64(text, &uid) < 0 ||
	    uid > UINT32_MAX)
		return APPROVER_NO_UID;
	return (uid_t)uid;
}

int approval_store_open(const char *state, const char *lane, const struct approval_rules *rules,
			struct ledger *ledger, struct approval_store *ret, struct fault *f)
{
	_cleanup_approval_store_ struct approval_store d = {
		.dirfd = -EBADF, .rules = rules ? rules : &strict, .ledger = ledger, .login = login_uid()
	};
	int r;

	if (!*lane || strlen(lane) >= sizeof(d.lane))
		return fault_set(f, EINVAL, "'%s' is not a lane", lane);
	memcpy(d.lane, lane, strlen(lane) + 1);
	d.state = strdup(state);
	if (!d.state)
		return fault_errno(f, ENOMEM, "approvals");
	d.dirfd = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d.dirfd < 0 && errno == ENOENT)
		d.dirfd = path_make_dirs(AT_FDCWD, state, 0700, f);
	else if (d.dirfd < 0)
		return fault_errno(f, errno, "open '%s'", state);
	if (d.dirfd < 0)
		return d.dirfd;
	r = require_own(d.dirfd, state, f);
	if (r < 0)
		return r;
	*ret = d;
	d = (struct approval_store){ .dirfd = -EBADF };
	return 0;
}

void approval_store_done(struct approval_store *d)
{
	free(d->state);
	d->state = NULL;
	d->dirfd = fd_close(d->dirfd);
}

int approval_store_now(const struct approval_store *d, struct moment *ret, struct fault *f)
{
	if (d->now) {
		*ret = *d->now;
		return 0;
	}
	ret->wall_us = clock_wall_us();
	ret->boot_ns = clock_boot_ns();
	return clock_boot_id(ret->boot, f);
}

uint64_t approval_store_min_approvals(const struct approval_store *d)
{
	return d->rules->min_approvals ? d->rules->min_approvals : 1;
}

int approval_store_open_dir(const struct approval_store *d, const char *name, bool create, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	fd = openat(d->dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && !create)
		return -ENOENT;
	if (fd < 0 && errno == ENOENT) {
		if (mkdirat(d->dirfd, name, 0700) < 0 && errno != EEXIST)
			return fault_errno(f, errno, "make '%s/%s'", d->state, name);
		/* A directory lost in a crash would lose the counted tries and uses. */
		if (fsync(d->dirfd) < 0)
			return fault_errno(f, errno, "sync '%s'", d->state);
		fd = openat(d->dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd < 0)
		return fault_errno(f, errno, "open '%s/%s'", d->state, name);
	r = require_own(fd, name, f);
	return r < 0 ? fault_wrap(f, r, "'%s'", d->state) : TAKE_FD(fd);
}

static int watch_dir(const struct approval_store *d, int fd, const char *name, struct fault *f)
{
	_cleanup_free_ char *path = path_join(d->state, name);
	_cleanup_close_ int dir = approval_store_open_dir(d, name, true, f);

	if (dir < 0)
		return dir;
	if (!path)
		return fault_errno(f, ENOMEM, "approvals");
	/* Every change of custody ends in a rename or an unlink. */
	if (inotify_add_watch(fd, path, IN_MOVED_TO | IN_DELETE | IN_ONLYDIR) < 0)
		return fault_errno(f, errno, "watch '%s'", path);
	return 0;
}

int approval_store_watch(const struct approval_store *d, struct fault *f)
{
	_cleanup_close_ int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "inotify");
	r = watch_dir(d, fd, APPROVAL_STORE_REQUESTS, f);
	if (r == 0)
		r = watch_dir(d, fd, APPROVAL_STORE_GRANTS, f);
	return r < 0 ? r : TAKE_FD(fd);
}

void approval_store_watch_drain(int fd)
{
	char room[4096] __attribute__((aligned(__alignof__(struct inotify_event))));

	while (read(fd, room, sizeof(room)) > 0)
		;
}
