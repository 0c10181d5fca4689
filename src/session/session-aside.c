/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/session-aside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

static const char *const places[] = { "/dev/shm", "/tmp", "/var/tmp" };

/* Is the directory FD the directory TREE, or below it?  By inode: paths may lead through links and binds. */
static int is_in(int fd, const struct stat *tree, struct fault *f)
{
	_cleanup_close_ int at = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct stat st, above;

	if (at < 0 || fstat(at, &st) < 0)
		return fault_errno(f, errno, "parents of a directory");
	for (;;) {
		int up;

		if (st.st_dev == tree->st_dev && st.st_ino == tree->st_ino)
			return 1;
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0 || fstat(up, &above) < 0) {
			int code = errno;

			(void)fd_close(up);
			return fault_errno(f, code, "parents of a directory");
		}
		(void)fd_close(at);
		at = up;
		if (above.st_dev == st.st_dev && above.st_ino == st.st_ino)
			return 0;
		st = above;
	}
}

static int is_place_in(const char *place, const struct stat *tree, struct fault *f)
{
	_cleanup_close_ int fd = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? 1 : is_in(fd, tree, f);
}

/* The link first: a directory without a link would stay for ever. */
static int make_at(int run, const char *path, struct fault *f)
{
	(void)unlinkat(run, SESSION_ASIDE, 0);
	if (symlinkat(path, run, SESSION_ASIDE) < 0)
		return fault_errno(f, errno, "link '%s'", SESSION_ASIDE);
	if (mkdir(path, 0700) < 0)
		return fault_errno(f, errno, "create '%s'", path);
	return 0;
}

int session_aside_make(const struct session *s, const char *tree, char **ret, struct fault *f)
{
	_cleanup_fault_ struct fault last = { 0 };
	_cleanup_close_ int run = open(s->run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int r;

	if (run < 0)
		return fault_errno(f, errno, "open '%s'", s->run);
	if (stat(tree, &st) < 0)
		return fault_errno(f, errno, "worktree '%s'", tree);
	r = is_in(run, &st, f);
	if (r < 0)
		return r;
	if (r == 0) {
		*ret = strdup(s->run);
		return *ret ? 0 : fault_errno(f, ENOMEM, "session");
	}
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		_cleanup_free_ char *path = NULL;

		if (is_place_in(places[i], &st, NULL) != 0)
			continue;
		if (asprintf(&path, "%s/custody-%s", places[i], s->id) < 0) {
			path = NULL;
			return fault_errno(f, ENOMEM, "session");
		}
		fault_done(&last);
		if (make_at(run, path, &last) == 0) {
			*ret = TAKE_PTR(path);
			return 0;
		}
	}
	return fault_set(
		f, ELOOP,
		"custody's runtime directory '%s' is in the worktree '%s', and copies of the files that "
		"the command names cannot be placed elsewhere%s%s: set XDG_RUNTIME_DIR to a directory "
		"outside of the worktree, or use --no-seal",
		s->run, tree, last.text ? ": " : "", last.text ? last.text : "");
}

int session_aside_remove(int run_fd, const char *id, struct fault *f)
{
	char target[PATH_MAX], name[sizeof("custody-") + SESSION_ID_SIZE];
	ssize_t n;

	if (run_fd < 0)
		return 0;
	n = readlinkat(run_fd, SESSION_ASIDE, target, sizeof(target) - 1);

	if (n < 0)
		return errno == ENOENT ? 0 : fault_errno(f, errno, "link '%s'", SESSION_ASIDE);
	target[n] = '\0';
	(void)snprintf(name, sizeof(name), "custody-%s", id);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		_cleanup_close_ int place = -EBADF;
		size_t len = strlen(places[i]);
		struct stat st;

		if (!str_starts(target, places[i]) || target[len] != '/' || !str_eq(target + len + 1, name))
			continue;
		place = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		/* A directory of another user under this name is not the session's. */
		if (place < 0 || fstatat(place, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_uid != geteuid())
			return 0;
		return path_remove_tree(place, name, f);
	}
	return 0;
}
