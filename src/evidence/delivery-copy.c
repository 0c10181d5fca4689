/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target is a share: others may write to it, and it may lose data without an error.
 * 1. Every step opens one name relative to a directory, without following links; no name is opened twice unchecked.
 * 2. Earlier evidence is never touched; evidence with another digest keeps its name.
 * 3. write, fsync, close and the bytes read back must all be right before the rename to the final name.
 */
#include "evidence/delivery-copy.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/seam.h"
#include "base/walk.h"
#include "state/dirs.h"
#include "evidence/evidence-impl.h"
#include "evidence/evidence-probe.h"

#define STEP ((size_t)256 * 1024)
/* Bytes between two fsync: a slow share shows progress, and a full one fails early. */
#define SYNC_BYTES ((uint64_t)16 * 1024 * 1024)
#define LEVELS_MAX 72 /* a mirror has 64, see capture */

struct copying {
	const struct delivery_copy *c;
	int store, dir; /* DIR: NAME.partial */
	int levels[LEVELS_MAX];
	char *half;
	void *buffer;
};

static void copying_done(struct copying *x)
{
	for (unsigned int i = 0; i < LEVELS_MAX; i++)
		fd_close(x->levels[i]);
	fd_close(x->dir);
	fd_close(x->store);
	free(x->half);
	free(x->buffer);
}
#define _cleanup_copying_ _cleanup_(copying_done)

static void tell_alive(const struct copying *x)
{
	if (x->c->alive)
		x->c->alive(x->c->arg);
}

/* Hashes all of IN; copies it to OUT unless OUT is -EBADF. */
static int pump(const struct copying *x, int in, int out, struct digest *ret, uint64_t *ret_size,
		struct fault *f)
{
	struct sha256_ctx sha;
	uint64_t size = 0;

	sha256_init(&sha);
	for (;;) {
		ssize_t n = read(in, x->buffer, STEP);
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fault_errno(f, errno, "read");
		if (n == 0)
			break;
		sha256_update(&sha, (size_t)n, x->buffer);
		r = out >= 0 ? fd_write_all(out, x->buffer, (size_t)n, f) : 0;
		if (r < 0)
			return r;
		size += (uint64_t)n;
		if (out >= 0 && size % SYNC_BYTES == 0 && fsync(out) < 0)
			return fault_errno(f, errno, "sync");
		tell_alive(x);
	}
	sha256_digest(&sha, sizeof(ret->bytes), ret->bytes);
	*ret_size = size;
	return 0;
}

/* Drop the page cache: read the bytes of the share. */
static int compare(const struct copying *x, int fd, const struct digest *want, uint64_t size, struct fault *f)
{
	struct digest is;
	struct stat st;
	uint64_t n;
	int r;

	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "read back");
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != size)
		return fault_set(f, EIO, "truncated: %llu bytes of %llu", (unsigned long long)st.st_size,
				 (unsigned long long)size);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	r = pump(x, fd, -EBADF, &is, &n, f);
	if (r < 0)
		return r;
	return digest_equal(&is, want) ? 0 : fault_set(f, EIO, "read back other bytes than were written");
}

static int read_back(const struct copying *x, int dirfd, const char *name, const struct digest *want,
		     uint64_t size, struct fault *f)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return fd < 0 ? fault_errno(f, errno, "read back") : compare(x, fd, want, size, f);
}

static int write_file(const struct copying *x, int in, int dirfd, const char *name, struct fault *f)
{
	int out = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), r;
	struct digest d;
	uint64_t size;

	if (out < 0)
		return fault_errno(f, errno, "create");
	r = pump(x, in, out, &d, &size, f);
	if (r == 0 && fsync(out) < 0)
		r = fault_errno(f, errno, "sync");
	/* A full share may report ENOSPC only here. */
	if (close(out) < 0 && r == 0)
		r = fault_errno(f, errno, "close");
	return r < 0 ? r : read_back(x, dirfd, name, &d, size, f);
}

static int copy_file(const struct copying *x, const struct walk_entry *e, int to, struct fault *f)
{
	_cleanup_close_ int in = openat(e->dirfd, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int r;

	if (in < 0 || fstat(in, &st) < 0)
		return fault_errno(f, errno, "open staged '%s'", e->path);
	if (!S_ISREG(st.st_mode))
		return fault_set(f, EINVAL, "staged '%s' is not a regular file", e->path);
	r = write_file(x, in, to, e->name, f);
	seam("delivery-file-written");
	return r < 0 ? fault_wrap(f, r, "'%s'", e->path) : 0;
}

static int enter(struct copying *x, const struct walk_entry *e, struct fault *f)
{
	int up;

	if (e->depth == 0)
		return 0;
	if (e->depth >= LEVELS_MAX)
		return fault_set(f, ENAMETOOLONG, "staged '%.80s...' is too deep", e->path);
	up = e->depth == 1 ? x->dir : x->levels[e->depth - 1];
	if (mkdirat(up, e->name, 0700) < 0)
		return fault_errno(f, errno, "create '%s'", e->path);
	fd_close(x->levels[e->depth]);
	x->levels[e->depth] = openat(up, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	tell_alive(x);
	return x->levels[e->depth] < 0 ? fault_errno(f, errno, "open '%s'", e->path) : 0;
}

static int copy_all(struct copying *x, struct fault *f)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	int r, event;

	r = walk_new(x->c->staged, 0, &w, f);
	while (r == 0 && (event = walk_next(w, &e, f)) != WALK_END) {
		if (event < 0)
			return event;
		if (event == WALK_ENTER)
			r = enter(x, &e, f);
		else if (event == WALK_ENTRY)
			r = copy_file(x, &e, e.depth <= 1 ? x->dir : x->levels[e.depth - 1], f);
		else if (event == WALK_ERROR)
			r = fault_set(f, e.error ? e.error : EIO, "staged '%s' %s", e.path, e.why);
	}
	return r;
}

static int digest_metadata(int dir, struct digest *ret, struct fault *f)
{
	_cleanup_close_ int fd =
		openat(dir, EVIDENCE_METADATA, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(f, errno, "open " EVIDENCE_METADATA);
	if (!S_ISREG(st.st_mode) || st.st_size > (off_t)EVIDENCE_METADATA_MAX)
		return fault_set(f, EINVAL, EVIDENCE_METADATA " is not a regular file");
	return digest_fd(fd, ret, f);
}

/* Every staged file exists in the store, with the same bytes. */
static bool is_same(const struct copying *x, int dir)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	int event = -1;

	if (walk_new(x->c->staged, 0, &w, NULL) < 0)
		return false;
	while ((event = walk_next(w, &e, NULL)) > 0) {
		_cleanup_close_ int in = -EBADF;
		_cleanup_close_ int to = -EBADF;
		struct digest d;
		uint64_t size;

		if (event == WALK_ERROR)
			return false;
		/* A pin may have been removed there; it is not part of the evidence. */
		if (event != WALK_ENTRY || strcmp(e.path, EVIDENCE_PIN) == 0)
			continue;
		in = openat(e.dirfd, e.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		to = path_open_beneath(dir, e.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0, NULL);
		if (in < 0 || to < 0 || pump(x, in, -EBADF, &d, &size, NULL) < 0 ||
		    compare(x, to, &d, size, NULL) < 0)
			return false;
	}
	return event == WALK_END;
}

/* 1: NAME is this evidence; 0: NAME is free; -EEXIST: NAME is other evidence. */
static int look_at(const struct copying *x, const char *name, const struct digest *metadata, struct fault *f)
{
	_cleanup_close_ int dir = openat(x->store, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct digest is;

	if (dir < 0 && errno == ENOENT)
		return 0;
	if (dir < 0 && errno != ELOOP && errno != ENOTDIR)
		return fault_errno(f, errno, "open '%s/%s'", x->c->store, name);
	if (dir < 0 || digest_metadata(dir, &is, NULL) < 0 || !digest_equal(&is, metadata) ||
	    !is_same(x, dir))
		return -EEXIST;
	return 1;
}

/* Remove the rest of an earlier delivery: only the holder of the lock creates NAME.partial. */
static int make_half(struct copying *x, const char *session, struct fault *f)
{
	int r;

	x->half = evidence_name(session, 1, EVIDENCE_PARTIAL);
	if (!x->half)
		return fault_errno(f, ENOMEM, "delivery");
	r = path_remove_tree(x->store, x->half, f);
	if (r < 0)
		return r;
	if (mkdirat(x->store, x->half, 0700) < 0)
		return fault_errno(f, errno, "create '%s/%s'", x->c->store, x->half);
	seam("delivery-begun");
	x->dir = openat(x->store, x->half, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return x->dir < 0 ? fault_errno(f, errno, "open '%s/%s'", x->c->store, x->half) : 0;
}

static int bring(struct copying *x, const char *name, struct fault *f)
{
	int r = make_half(x, x->c->session, f);

	if (r == 0)
		r = copy_all(x, f);
	/* Not every share supports these. */
	if (r == 0)
		(void)fsync(x->dir);
	tell_alive(x);
	if (r == 0)
		r = evidence_rename(x->store, x->half, name);
	if (r == 0) {
		seam("delivery-renamed");
		(void)fsync(x->store);
		return 0;
	}
	/* Free the space for the next try; if that fails, the next try does it. */
	if (x->dir >= 0)
		(void)!path_remove_tree(x->store, x->half, NULL);
	return f && f->code ? r : fault_errno(f, -r, "rename it to '%s/%s'", x->c->store, name);
}

static int open_store(struct copying *x, struct fault *f)
{
	x->store = path_make_dirs(AT_FDCWD, x->c->store, 0700, f);
	if (x->store < 0)
		return x->store;
	/* Modes on a share come from its mount options: not checked. */
	return evidence_is_local(x->store) ? dirs_require_own(x->store, x->c->store, f) : 0;
}

int delivery_copy(const struct delivery_copy *c, struct delivery_copied *ret, struct fault *f)
{
	_cleanup_copying_ struct copying x = { .c = c, .store = -EBADF, .dir = -EBADF };
	struct digest metadata;
	int r;

	for (unsigned int i = 0; i < LEVELS_MAX; i++)
		x.levels[i] = -EBADF;
	x.buffer = malloc(STEP);
	if (!x.buffer)
		return fault_errno(f, ENOMEM, "delivery");
	r = digest_metadata(c->staged, &metadata, f);
	if (r == 0)
		r = open_store(&x, f);
	for (unsigned int i = 1; r == 0 && i <= EVIDENCE_NAMES_MAX; i++) {
		_cleanup_free_ char *name = evidence_name(c->session, i, "");
		int there = name ? look_at(&x, name, &metadata, f) : -ENOMEM;

		if (there == -EEXIST)
			continue;
		r = there < 0 ? there : there == 0 ? bring(&x, name, f) : 0;
		if (r < 0)
			break;
		*ret = (struct delivery_copied){ .name = TAKE_PTR(name),
						 .was_there = there > 0,
						 .metadata = metadata };
		return 0;
	}
	if (r == 0)
		return fault_set(f, EEXIST, "'%s' has other evidence of '%s' %d times", c->store, c->session,
				 EVIDENCE_NAMES_MAX);
	return fault_wrap(f, r, "deliver '%s'", c->session);
}
