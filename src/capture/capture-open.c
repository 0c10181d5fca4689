/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/capture-open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "capture/capture-entry.h"

static int open_file(const struct capture_batch *b, const char *name, struct statx *ret)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	_cleanup_close_ int fd = -EBADF;

	if (b->from < 0)
		return b->from;
	fd = openat(b->from, name, flags | O_NOATIME);
	if (fd < 0 && errno == EPERM)
		fd = openat(b->from, name, flags);
	if (fd < 0)
		return -errno;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, ret) < 0)
		return -errno;
	/* It may have been replaced since the walk: stat the opened file. */
	if (!S_ISREG(ret->stx_mode))
		return -ESTALE;
	return ret->stx_mnt_id != b->mount ? -EXDEV : TAKE_FD(fd);
}

/* Bytes that may be stored, and how many of them are data; 0 with WHY: none. */
static uint64_t allowance(struct capture_target *t, const struct statx *stx, uint64_t *ret_data,
			  const char **why)
{
	const struct capture_options *o = t->o;
	uint64_t size = stx->stx_size, data = stx->stx_blocks * 512, room;

	*why = NULL;
	if (o->deadline_ns && clock_boot_ns() > o->deadline_ns)
		*why = "limit: time limit reached";
	else if (!capture_target_has_room(t))
		*why = "limit: data limit reached";
	if (*why)
		return 0;
	if (o->max_file && size > o->max_file && data > o->max_file)
		size = o->max_file;
	if (data > size)
		data = size;
	room = capture_target_claim(t, data);
	if (room < data)
		size = data = room;
	*ret_data = data;
	return size;
}

/* The walker did not stat it (WALK_UNSEEN_FILES): this is the first stat. */
static void look_unopened(struct walk_entry *w)
{
	struct statx stx;

	w->stx = (struct statx){ .stx_mode = S_IFREG };
	if (w->dirfd >= 0 &&
	    statx(w->dirfd, w->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &stx) == 0 &&
	    S_ISREG(stx.stx_mode))
		w->stx = stx;
}

static const char *explain(int error)
{
	return error == ESTALE	? "is no longer a regular file"
	       : error == EXDEV ? "is on another mount"
				: "cannot be opened";
}

static char *target_name(const struct capture_target *t, const char *name)
{
	return t->o->any_names ? strdup(name) : capture_encode_name(name);
}

/* IN is open: choose the target name and the number of bytes. */
static int admit(struct capture_target *t, const char *name, struct capture_job *j, struct fault *f)
{
	const char *why;

	capture_target_set_link_id(t, &j->seen, &j->entry);
	if (j->entry.same)
		return 0;
	j->size = allowance(t, &j->seen, &j->data, &why);
	if (why)
		return capture_set_why(&j->entry, 0, why, f);
	j->name = target_name(t, name);
	return j->name ? 1 : fault_errno(f, ENOMEM, "capture");
}

int capture_open(struct capture_target *t, const struct capture_batch *b, const char *name,
		 struct capture_job *ret, struct fault *f)
{
	_cleanup_capture_job_ struct capture_job j = { .in = -EBADF, .dir = b->dir };
	_cleanup_strbuf_ struct strbuf path = { 0 };
	struct walk_entry w = { .name = name, .dirfd = b->from, .fd = -EBADF };
	int r, error;

	j.dir->refs++;
	strbuf_puts(&path, b->path);
	if (*b->path)
		strbuf_putc(&path, '/');
	strbuf_puts(&path, name);
	if (path.broken)
		return fault_errno(f, ENOMEM, "capture");
	w.path = path.text;
	w.path_len = path.len;
	j.in = open_file(b, name, &j.seen);
	error = j.in < 0 ? -j.in : 0;
	if (error)
		look_unopened(&w);
	else
		w.stx = j.seen;
	r = capture_describe(&w, t->o, &j.entry, f);
	if (r == 0)
		r = error ? capture_set_why(&j.entry, error, explain(error), f) : admit(t, name, &j, f);
	if (r < 0)
		return r;
	*ret = j;
	j = (struct capture_job){ .in = -EBADF };
	return r;
}
