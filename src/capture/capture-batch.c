/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/capture-batch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"

struct capture_dir *capture_dir_new(int fd, const char *path)
{
	struct capture_dir *d = calloc(1, sizeof(*d));

	if (d)
		*d = (struct capture_dir){ .fd = fd, .path = strdup(path), .refs = 1 };
	if (d && d->path)
		return d;
	free(d);
	fd_close(fd);
	return NULL;
}

void capture_dir_drop(struct capture_dir *d)
{
	if (!d || --d->refs > 0)
		return;
	fd_close(d->fd);
	free(d->path);
	free(d);
}

static int hold(int fd)
{
	int held = fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 3);

	return held < 0 && fd >= 0 ? -errno : held;
}

/* A copy of the descriptor: the walker closes its own when it leaves the directory. */
static bool begin(struct capture_batch *b, struct capture_dir *dir, const struct walk_entry *w)
{
	const size_t above = w->path_len - strlen(w->name);

	b->path = strndup(w->path, above > 0 ? above - 1 : 0);
	if (!b->path)
		return false;
	b->from = hold(w->dirfd);
	b->mount = w->stx.stx_mnt_id;
	b->dir = dir;
	dir->refs++;
	return true;
}

int capture_batch_add(struct capture_batch *b, struct capture_dir *dir, const struct walk_entry *w,
		      struct fault *f)
{
	if (!b->dir && !begin(b, dir, w))
		return fault_errno(f, ENOMEM, "capture");
	strbuf_add(&b->names, w->name, strlen(w->name) + 1);
	b->n++;
	return b->names.broken ? fault_errno(f, ENOMEM, "capture") : 0;
}

const char *capture_batch_next(struct capture_batch *b)
{
	const char *name = b->names.text + b->at;

	if (b->n == 0)
		return NULL;
	b->n--;
	b->at += strlen(name) + 1;
	return name;
}

bool capture_batch_split(struct capture_batch *b, struct capture_batch *rest)
{
	_cleanup_capture_batch_ struct capture_batch r = { .from = -EBADF, .mount = b->mount, .n = b->n };

	if (b->n == 0)
		return false;
	r.dir = b->dir;
	r.dir->refs++;
	r.path = strdup(b->path);
	r.from = hold(b->from);
	strbuf_add(&r.names, b->names.text + b->at, b->names.len - b->at);
	if (!r.path || r.names.broken || (r.from < 0 && b->from >= 0))
		return false;
	b->n = 0;
	capture_batch_move(rest, &r);
	return true;
}

void capture_batch_move(struct capture_batch *to, struct capture_batch *from)
{
	*to = *from;
	*from = (struct capture_batch){ .from = -EBADF };
}

void capture_batch_done(struct capture_batch *b)
{
	/* A zeroed batch holds no descriptor. */
	if (b->dir)
		fd_close(b->from);
	capture_dir_drop(b->dir);
	free(b->path);
	strbuf_done(&b->names);
	*b = (struct capture_batch){ .from = -EBADF };
}
