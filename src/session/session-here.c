/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/session-here.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define DEPTH_MAX 4096 /* parent directories that are compared */

void session_here_done(struct session_here *h)
{
	free(h->dirs);
	*h = (struct session_here){ 0 };
}

/* 1: added; 0: the root of the tree, which is its own parent. */
static int add(struct session_here *h, int fd, struct fault *f)
{
	struct session_here_dir *grown, *last = h->n ? &h->dirs[h->n - 1] : NULL;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "stat the current directory");
	if (last && last->device == st.st_dev && last->inode == st.st_ino)
		return 0;
	grown = reallocarray(h->dirs, h->n + 1, sizeof(*grown));
	if (!grown)
		return fault_errno(f, ENOMEM, "current directory");
	h->dirs = grown;
	grown[h->n++] = (struct session_here_dir){ .device = st.st_dev, .inode = st.st_ino };
	return 1;
}

int session_here_load(struct session_here *ret, struct fault *f)
{
	_cleanup_session_here_ struct session_here h = { 0 };
	_cleanup_close_ int fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 ? fault_errno(f, errno, "open the current directory") : add(&h, fd, f);

	while (r > 0 && h.n < DEPTH_MAX) {
		int up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (up < 0)
			break;
		(void)fd_close(fd);
		fd = up;
		r = add(&h, fd, f);
	}
	if (r < 0)
		return r;
	*ret = h;
	h = (struct session_here){ 0 };
	return 0;
}

bool session_here_has(const struct session_here *h, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->dirs[i].device == device && h->dirs[i].inode == inode)
			return true;
	return false;
}

bool session_here_has_path(const struct session_here *h, const char *path)
{
	struct stat st;

	return path && lstat(path, &st) == 0 && session_here_has(h, st.st_dev, st.st_ino);
}

bool session_here_has_note(const struct session_here *h, const struct session_note *n)
{
	if (!n->worktree)
		return false;
	return n->worktree_inode ? session_here_has(h, n->worktree_device, n->worktree_inode)
				 : session_here_has_path(h, n->worktree);
}
