/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/sandbox-clear.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "base/walk.h"

#define ROUNDS_MAX 16 /* retries while another process writes to it */

static int mount_of(int fd, uint64_t *ret)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) < 0)
		return -errno;
	*ret = stx.stx_mask & STATX_MNT_ID ? stx.stx_mnt_id : 0;
	return 0;
}

static int refuse_mount(const struct sandbox_root *r, const char *name, const char *below, struct fault *f)
{
	return fault_set(f, EBUSY, "'%s/%s%s%s' is a mount point: umount it first", r->path, name,
			 *below ? "/" : "", below);
}

static int require_own_mount(const struct sandbox_root *r, const char *name, int fd, struct fault *f)
{
	uint64_t root, dir;
	int e = mount_of(r->fd, &root);

	if (e == 0)
		e = mount_of(fd, &dir);
	if (e < 0)
		return fault_errno(f, -e, "stat '%s/%s'", r->path, name);
	return root == dir ? 0 : refuse_mount(r, name, "", f);
}

int sandbox_survey(const struct sandbox_root *r, const char *name, int fd, struct sandbox_survey *ret,
		   struct fault *f)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct sandbox_survey s = *ret;
	struct walk_entry e;
	int event;

	event = require_own_mount(r, name, fd, f);
	if (event == 0)
		event = walk_new(fd, 0, &w, f);
	if (event < 0)
		return event;
	while ((event = walk_next(w, &e, f)) > WALK_END) {
		if (event == WALK_ERROR && e.error == EXDEV)
			return refuse_mount(r, name, e.path, f);
		if (event == WALK_LEAVE || !*e.path)
			continue;
		s.entries++;
		if (e.stx.stx_mask & STATX_BLOCKS)
			s.bytes += e.stx.stx_blocks * 512;
	}
	if (event < 0)
		return event;
	*ret = s;
	return 0;
}

/* Removes the entries of one pass over the directory. 1: there were entries. */
static int clear_once(int fd, struct fault *f)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0, some = 0;
	DIR *dir = again < 0 ? NULL : fdopendir(again);
	const struct dirent *e;

	if (!dir) {
		r = fault_errno(f, errno, "read it");
		(void)fd_close(again);
		return r;
	}
	while (r == 0 && (errno = 0, e = readdir(dir))) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		some = 1;
		r = path_remove_tree(fd, e->d_name, f);
	}
	if (r == 0 && errno)
		r = fault_errno(f, errno, "read it");
	(void)closedir(dir);
	return r < 0 ? r : some;
}

int sandbox_clear(const struct sandbox_root *r, const char *name, int fd, struct fault *f)
{
	int e = require_own_mount(r, name, fd, f);

	if (e < 0)
		return e;
	for (int i = 0; i < ROUNDS_MAX; i++) {
		e = clear_once(fd, f);
		if (e < 0)
			return fault_wrap(f, e, "clear '%s/%s'", r->path, name);
		if (e == 0)
			return 0;
	}
	return fault_set(f, EBUSY, "clear '%s/%s': another process keeps writing to it", r->path, name);
}
