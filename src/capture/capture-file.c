/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/capture-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "capture/capture-entry.h"
#include "capture/capture-share.h"

/* Hard-linked files that are remembered; further ones are stored once per name. */
#define HARD_LINKS_MAX 65536

struct capture_hard_link {
	uint64_t ino, id;
	uint32_t major, minor;
};

int capture_target_init(struct capture_target *t, int outfd, const struct capture_options *o, struct fault *f)
{
	*t = (struct capture_target){ .o = o, .outfd = outfd, .oddfd = -EBADF };
	(void)pthread_mutex_init(&t->lock, NULL);
	if (o->share && !o->pack)
		t->no_clone = !capture_share_can_clone(outfd);
	t->hard_links = calloc(HARD_LINKS_MAX, sizeof(*t->hard_links));
	return t->hard_links ? 0 : fault_errno(f, ENOMEM, "capture");
}

void capture_target_done(struct capture_target *t)
{
	t->oddfd = fd_close(t->oddfd);
	free(t->hard_links);
	(void)pthread_mutex_destroy(&t->lock);
}

void capture_job_done(struct capture_job *j)
{
	manifest_entry_done(&j->entry);
	fd_close(j->in);
	capture_dir_drop(j->dir);
	free(j->name);
	*j = (struct capture_job){ .in = -EBADF };
}

uint64_t capture_target_claim(struct capture_target *t, uint64_t bytes)
{
	uint64_t room;

	if (!t->o->max_bytes)
		return bytes;
	(void)pthread_mutex_lock(&t->lock);
	room = t->o->max_bytes - t->claimed;
	if (bytes > room)
		bytes = room;
	t->claimed += bytes;
	(void)pthread_mutex_unlock(&t->lock);
	return bytes;
}

bool capture_target_has_room(struct capture_target *t)
{
	bool room;

	if (!t->o->max_bytes)
		return true;
	(void)pthread_mutex_lock(&t->lock);
	room = t->claimed < t->o->max_bytes;
	(void)pthread_mutex_unlock(&t->lock);
	return room;
}

static void set_link_id_locked(struct capture_target *t, const struct statx *stx, struct manifest_entry *e)
{
	uint64_t at = (stx->stx_ino * UINT64_C(0x9e3779b97f4a7c15)) >> 48;

	for (unsigned int i = 0; i < 64; i++) {
		struct capture_hard_link *w = t->hard_links + (at + i) % HARD_LINKS_MAX;

		if (w->id && w->ino == stx->stx_ino && w->major == stx->stx_dev_major &&
		    w->minor == stx->stx_dev_minor) {
			e->same = w->id;
			return;
		}
		if (w->id)
			continue;
		*w = (struct capture_hard_link){ .ino = stx->stx_ino,
						 .id = ++t->next_id,
						 .major = stx->stx_dev_major,
						 .minor = stx->stx_dev_minor };
		e->id = w->id;
		return;
	}
}

void capture_target_set_link_id(struct capture_target *t, const struct statx *stx, struct manifest_entry *e)
{
	if (stx->stx_nlink < 2)
		return;
	(void)pthread_mutex_lock(&t->lock);
	set_link_id_locked(t, stx, e);
	(void)pthread_mutex_unlock(&t->lock);
}

#define OUT_FLAGS (O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)

/* If the name exists, is too long or invalid on the target, the file gets a number in odd/. */
static int create_odd(struct capture_target *t, struct capture_job *j)
{
	char name[32];
	int fd;

	(void)pthread_mutex_lock(&t->lock);
	(void)snprintf(name, sizeof(name), "%08llu", (unsigned long long)++t->next_odd);
	if (t->oddfd < 0 && (mkdirat(t->outfd, CAPTURE_ODD, 0700) == 0 || errno == EEXIST))
		t->oddfd = openat(t->outfd, CAPTURE_ODD, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	fd = openat(t->oddfd, name, OUT_FLAGS, 0600);
	fd = fd < 0 ? -errno : fd;
	(void)pthread_mutex_unlock(&t->lock);
	if (fd < 0)
		return fd;
	free(j->name);
	j->name = strdup(name);
	if (asprintf(&j->entry.at, CAPTURE_ODD "/%s", name) < 0 || !j->name) {
		fd_close(fd);
		return -ENOMEM;
	}
	return fd;
}

/* Without set-id bits, always readable by its owner. */
static int create_out(struct capture_target *t, struct capture_job *j)
{
	int fd = -EINVAL;

	/* A packed sparse file has not the contents of the original: it goes to odd/. */
	if (j->dir->fd >= 0 && !j->entry.sparse)
		fd = openat(j->dir->fd, j->name, OUT_FLAGS, (j->entry.mode & 0777) | 0600);
	else
		errno = ENAMETOOLONG;
	if (fd >= 0) {
		j->entry.at = path_join(j->dir->path, j->name);
		if (j->entry.at)
			return fd;
		fd_close(fd);
		return -ENOMEM;
	}
	if (errno == EEXIST || errno == ENAMETOOLONG || errno == EINVAL || errno == EILSEQ)
		return create_odd(t, j);
	return -errno;
}

/* A share may report ENOSPC only here. */
static int sync_out(const struct capture_target *t, int out)
{
	int r = 0;

	if (t->o->sync_each && fsync(out) < 0)
		r = -errno;
	if (close(out) < 0 && r == 0)
		r = -errno;
	return r;
}

static void forget_out(struct capture_target *t, struct capture_job *j)
{
	if (!j->entry.at)
		return;
	(void)unlinkat(str_starts(j->entry.at, CAPTURE_ODD "/") ? t->oddfd : j->dir->fd, j->name, 0);
	free(j->entry.at);
	j->entry.at = NULL;
}

static void set_why(int *failed, struct manifest_entry *e, int error, const char *why)
{
	if (capture_set_why(e, error, why, NULL) < 0)
		*failed = ENOMEM;
}

static void keep_copy(int *failed, struct capture_job *j)
{
	const struct capture_copy *c = &j->copy;
	struct manifest_entry *e = &j->entry;
	uint64_t wanted = capture_copy_wanted(c);

	e->has_digest = true;
	e->digest = c->digest;
	e->unstable = !capture_is_unchanged(j->in, &j->seen) || c->copied < wanted;
	if (c->copied < wanted)
		set_why(failed, e, 0, "truncated while it was read");
	else if (j->size < e->size)
		set_why(failed, e, 0, "limit: only its beginning is kept");
}

/*
 * More may be written than is allocated: holes beyond the listed extents are stored as zeros, and all holes if the file
 * system does not report them.  That must fit, too.  True: the file was cut.
 */
static bool fit(struct capture_target *t, struct capture_job *j)
{
	struct manifest_entry *e = &j->entry;
	uint64_t wanted = e->sparse ? 0 : j->size, room, left;

	for (size_t i = 0; e->sparse && i < e->n_extents; i++)
		wanted += e->extents[i].len;
	if (wanted <= j->data)
		return false;
	room = j->data + capture_target_claim(t, wanted - j->data);
	if (room >= wanted)
		return false;
	if (!e->sparse)
		j->size = room;
	left = room;
	for (size_t i = 0; e->sparse && i < e->n_extents; i++) {
		if (e->extents[i].len > left)
			e->extents[i].len = left;
		left -= e->extents[i].len;
		if (left == 0)
			e->n_extents = e->extents[i].len ? i + 1 : i;
	}
	return true;
}

/* Under the name that it would have in worktree/ or odd/. */
static char *name_packed(struct capture_target *t, const struct capture_job *j)
{
	char *at;
	int r;

	if (j->entry.sparse || str_eq(j->dir->path, CAPTURE_ODD))
		r = asprintf(&at, PACK_AT CAPTURE_ODD "/%08llu", (unsigned long long)++t->next_odd);
	else
		r = asprintf(&at, PACK_AT "%s/%s", j->dir->path, j->name);
	return r < 0 ? NULL : at;
}

/* An archive has one thread: no lock needed. */
static void begin_packed(struct capture_target *t, int *failed, struct capture_job *j)
{
	struct capture_copy *c = &j->copy;
	struct manifest_entry *e = &j->entry;
	int r = -ENOMEM;

	c->out = -EBADF;
	c->clone = false;
	c->to_pack = t->o->pack;
	e->at = name_packed(t, j);
	if (e->at)
		r = pack_put(c->to_pack, e, e->at + sizeof(PACK_AT) - 1, capture_copy_wanted(c), NULL);
	if (r < 0)
		*failed = -r;
}

static void end_packed(int *failed, struct capture_job *j, int r)
{
	if (r < 0 && !j->copy.read_failed) {
		*failed = -r;
		return;
	}
	keep_copy(failed, j);
	if (r < 0)
		set_why(failed, &j->entry, -r, "cannot be read: the rest is zeros");
}

/* On a local target only: a share may not support O_DIRECT. */
static struct capture_direct *direct_for(const struct capture_target *t, const struct capture_job *j,
					 struct capture_tools *tools)
{
	if (t->o->sync_each || t->o->pack || j->size < CAPTURE_DIRECT_MIN)
		return NULL;
	if (!tools->direct && !tools->has_tried)
		tools->direct = capture_direct_new();
	tools->has_tried = true;
	return tools->direct;
}

void capture_tools_done(struct capture_tools *tools)
{
	free(tools->buffer);
	capture_direct_free(tools->direct);
	*tools = (struct capture_tools){ 0 };
}

/* Sets up the copy: extents, size limit, buffer. */
static bool prepare(struct capture_target *t, struct capture_job *j, struct capture_tools *tools, int *failed)
{
	struct manifest_entry *e = &j->entry;

	if (capture_xattrs(j->in, e, NULL) < 0)
		set_why(failed, e, ENOMEM, "cannot read its extended attributes");
	capture_share_find(t, j);
	if (e->alloc < e->size &&
	    capture_find_extents(j->in, j->size, &e->extents, &e->n_extents, &e->sparse, NULL) < 0) {
		set_why(failed, e, ENOMEM, "cannot find its holes");
		return false;
	}
	j->cut = fit(t, j);
	j->copy = (struct capture_copy){ .in = j->in,
					 .size = j->size,
					 .extents = e->extents,
					 .n_extents = e->n_extents,
					 .sparse = e->sparse,
					 .clone = !t->no_clone,
					 .local = !t->o->sync_each,
					 .buffer = tools->buffer,
					 .direct = direct_for(t, j, tools) };
	return true;
}

bool capture_file_begin(struct capture_target *t, struct capture_job *j, struct capture_tools *tools,
			int *failed)
{
	struct capture_copy *c = &j->copy;

	if (!prepare(t, j, tools, failed))
		return false;
	if (t->o->pack) {
		begin_packed(t, failed, j);
		if (*failed)
			return false;
	} else if (!capture_share_link(t, j)) {
		c->out = create_out(t, j);
		if (c->out < 0) {
			set_why(failed, &j->entry, -c->out, "cannot be written to the target");
			return false;
		}
	}
	j->status = capture_copy_begin(c, NULL);
	if (c->clone && c->size >= CAPTURE_BUFFER && !c->sparse && !c->cloned)
		t->no_clone = true;
	return true;
}

bool capture_file_read(struct capture_job *j)
{
	if (j->status == 0)
		j->status = capture_copy_read(&j->copy, NULL);
	return j->status > 0;
}

void capture_file_write(struct capture_job *j)
{
	j->status = capture_copy_write(&j->copy, NULL);
}

static bool end_mirrored(struct capture_target *t, int *failed, struct capture_job *j, int r)
{
	struct capture_copy *c = &j->copy;

	if (r < 0) {
		if (!j->linked)
			(void)close(c->out);
		set_why(failed, &j->entry, -r,
			c->read_failed ? "cannot be read" : "cannot be written to the target");
		return false;
	}
	keep_copy(failed, j);
	r = j->linked ? 0 : sync_out(t, c->out);
	if (r < 0)
		set_why(failed, &j->entry, -r, "cannot be synced on the target");
	return r == 0;
}

uint64_t capture_file_end(struct capture_target *t, struct capture_job *j, int *failed)
{
	struct manifest_entry *e = &j->entry;
	int r = capture_copy_end(&j->copy, j->status, NULL);

	if (t->o->pack) {
		end_packed(failed, j, r);
	} else if (!end_mirrored(t, failed, j, r)) {
		e->has_digest = false;
		forget_out(t, j);
		return 0;
	}
	if (j->cut && !e->why)
		set_why(failed, e, 0, "limit: only its beginning is kept");
	return j->copy.copied;
}
