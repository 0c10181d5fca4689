/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/capture-copy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest-two.h"
#include "base/fd.h"

#define CLONE_MIN ((uint64_t)64 * 1024) /* smaller files are copied faster than cloned */
#define CLOCK_STEP_US 20000		/* granularity of file times: one timer tick, at most 10 ms */

static ssize_t read_at(int fd, void *buffer, size_t len, uint64_t offset)
{
	ssize_t n;

	do
		n = pread(fd, buffer, len, (off_t)offset);
	while (n < 0 && errno == EINTR);
	return n;
}

static int write_at(int fd, const char *bytes, size_t len, uint64_t offset, struct fault *f)
{
	while (len > 0) {
		ssize_t n = pwrite(fd, bytes, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fault_errno(f, n < 0 ? errno : EIO, "write");
		bytes += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static bool look(int fd, struct statx *ret)
{
	return statx(fd, "", AT_EMPTY_PATH, STATX_SIZE | STATX_MTIME | STATX_CTIME, ret) == 0;
}

static bool is_same_time(const struct statx_timestamp *a, const struct statx_timestamp *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool capture_is_unchanged(int fd, const struct statx *was)
{
	struct statx is;

	return look(fd, &is) && is.stx_size == was->stx_size &&
	       is_same_time(&is.stx_mtime, &was->stx_mtime) && is_same_time(&is.stx_ctime, &was->stx_ctime);
}

/* Unchanged for longer than the granularity of file times: every later change alters them. */
static bool is_at_rest(int fd, struct statx *ret)
{
	const uint64_t now = clock_wall_us();

	if (!look(fd, ret) || ret->stx_ctime.tv_sec < 0)
		return false;
	return (uint64_t)ret->stx_ctime.tv_sec * 1000000 + ret->stx_ctime.tv_nsec / 1000 + CLOCK_STEP_US <
	       now;
}

/* 1: blocks are shared.  IN may have grown since it was stat'ed: the clone is cut to the recorded size. */
static int share_blocks(struct capture_copy *c, struct fault *f)
{
	struct stat st;

	if (ioctl(c->out, FICLONE, c->in) < 0)
		return 0;
	c->cloned = true;
	if (fstat(c->out, &st) < 0)
		return fault_errno(f, errno, "stat a clone");
	if ((uint64_t)st.st_size < c->size)
		c->size = (uint64_t)st.st_size;
	else if (ftruncate(c->out, (off_t)c->size) < 0)
		return fault_errno(f, errno, "truncate a clone");
	return 1;
}

static void start(struct capture_copy *c, int source)
{
	sha256_init(&c->sha);
	c->source = source;
	c->copied = c->from = c->to = 0;
	c->left = c->sparse ? 0 : c->size;
}

/*
 * Of two files with the same blocks, the pages of the original are in memory, those of the clone are not: hash the
 * original, and the clone only if the original has changed since.  FICLONE wrote its pages and made them read-only, so
 * that even a write through a mapping alters its times.
 */
static int begin_clone(struct capture_copy *c, struct fault *f)
{
	int r;

	c->at_rest = c->local && is_at_rest(c->in, &c->before);
	r = share_blocks(c, f);
	c->at_rest &= c->cloned;
	if (r > 0)
		start(c, c->at_rest ? c->in : c->out);
	return r;
}

int capture_copy_begin(struct capture_copy *c, struct fault *f)
{
	int r = 0;

	start(c, c->in);
	if (c->sparse) {
		if (c->unpack && c->out >= 0 && ftruncate(c->out, (off_t)c->size) < 0)
			return fault_errno(f, errno, "create a file of %llu bytes",
					   (unsigned long long)c->size);
		return 0;
	}
	if (c->clone && c->out >= 0 && c->size >= CLONE_MIN)
		r = begin_clone(c, f);
	if (r == 0 && c->direct && c->out >= 0 && c->size >= CAPTURE_DIRECT_MIN)
		c->is_direct = capture_direct_begin(c->direct, c->out);
	return r < 0 ? r : 0;
}

/* The next extent; false: none.  The packed side has no gaps. */
static bool next_range(struct capture_copy *c)
{
	const struct manifest_extent *e;

	if (!c->sparse || c->next_extent == c->n_extents)
		return false;
	e = c->extents + c->next_extent++;
	c->from = c->unpack ? c->copied : e->offset;
	c->to = c->unpack ? e->offset : c->copied;
	c->left = e->len;
	return true;
}

/* STEP bytes, or fewer at the end of the file. */
static ssize_t read_full(int fd, char *buffer, size_t step, uint64_t offset)
{
	size_t got = 0;

	while (got < step) {
		ssize_t n = read_at(fd, buffer + got, step - got, offset + got);

		if (n < 0)
			return n;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

static int read_piece(struct capture_copy *c, struct fault *f)
{
	const size_t room = c->is_direct ? CAPTURE_DIRECT_STEP : CAPTURE_BUFFER;
	const size_t step = c->left < room ? (size_t)c->left : room;
	void *buffer = c->buffer;
	ssize_t n;
	int r = c->is_direct ? capture_direct_buffer(c->direct, &buffer, f) : 0;

	if (r < 0)
		return r;
	n = c->from_pack ? pack_read(c->from_pack, buffer, step)
			 : read_full(c->source, buffer, step, c->from);
	if (n < 0) {
		c->read_failed = true;
		return fault_errno(f, errno, "read");
	}
	/* A short read is normal for a stream; for a file it is the end. */
	c->is_short = n == 0 || ((size_t)n < step && !c->from_pack);
	c->piece = buffer;
	c->piece_len = (size_t)n;
	return n > 0;
}

/* The bytes read from the original are those of its clone. */
static bool is_clones(const struct capture_copy *c, int r)
{
	return r == 0 && !c->is_short && capture_is_unchanged(c->in, &c->before);
}

int capture_copy_read(struct capture_copy *c, struct fault *f)
{
	int r = 0;

	if (!c->is_short && (c->left > 0 || next_range(c)))
		r = read_piece(c, f);
	if (r > 0 || !c->at_rest || is_clones(c, r))
		return r;
	if (f)
		fault_done(f);
	c->at_rest = c->read_failed = c->is_short = false;
	start(c, c->out);
	return capture_copy_read(c, f);
}

void capture_copy_hash(struct capture_copy *c)
{
	sha256_update(&c->sha, c->piece_len, (const uint8_t *)c->piece);
}

void capture_copy_hash_two(struct capture_copy *c, struct capture_copy *d)
{
	digest_two_update(&c->sha, c->piece_len, c->piece, &d->sha, d->piece_len, d->piece);
}

int capture_copy_write(struct capture_copy *c, struct fault *f)
{
	int r = 0;

	if (c->to_pack)
		r = pack_data(c->to_pack, c->piece, c->piece_len, f);
	else if (c->is_direct)
		capture_direct_put(c->direct, c->piece_len);
	else if (c->out >= 0 && !c->cloned)
		r = write_at(c->out, c->piece, c->piece_len, c->to, f);
	if (r < 0)
		return r;
	c->copied += c->piece_len;
	c->from += c->piece_len;
	c->to += c->piece_len;
	c->left -= c->piece_len;
	return 0;
}

uint64_t capture_copy_wanted(const struct capture_copy *c)
{
	uint64_t sum = c->sparse ? 0 : c->size;

	for (size_t i = 0; c->sparse && i < c->n_extents; i++)
		sum += c->extents[i].len;
	return sum;
}

static int pad(struct capture_copy *c, struct fault *f)
{
	uint64_t left = capture_copy_wanted(c) - c->copied;
	int r = 0;

	memset(c->buffer, 0, CAPTURE_BUFFER);
	while (r == 0 && left > 0) {
		size_t step = left < CAPTURE_BUFFER ? (size_t)left : CAPTURE_BUFFER;

		sha256_update(&c->sha, step, c->buffer);
		r = pack_data(c->to_pack, c->buffer, step, f);
		left -= step;
	}
	return r;
}

int capture_copy_end(struct capture_copy *c, int r, struct fault *f)
{
	if (c->is_direct) {
		int end = capture_direct_end(c->direct, c->copied, r < 0 ? NULL : f);

		r = r < 0 ? r : end;
	}
	if (c->to_pack && (c->is_short || c->read_failed)) {
		_cleanup_fault_ struct fault why = { 0 };

		if (pad(c, &why) < 0) {
			c->read_failed = false; /* report the error of the archive instead */
			r = fault_errno(f, why.code, PACK_NAME);
		}
	}
	sha256_digest(&c->sha, sizeof(c->digest.bytes), c->digest.bytes);
	return r;
}

int capture_copy(struct capture_copy *c, struct fault *f)
{
	int r = capture_copy_begin(c, f);

	while (r == 0 && (r = capture_copy_read(c, f)) > 0) {
		capture_copy_hash(c);
		r = capture_copy_write(c, f);
	}
	return capture_copy_end(c, r, f);
}

static void add_extent(struct manifest_extent *list, size_t *n, uint64_t offset, uint64_t len)
{
	struct manifest_extent *last = *n > 0 ? list + *n - 1 : NULL;

	if (last && (last->offset + last->len == offset || *n == MANIFEST_EXTENTS_MAX)) {
		last->len = offset + len - last->offset;
		return;
	}
	list[(*n)++] = (struct manifest_extent){ .offset = offset, .len = len };
}

/* The first extent after AT; false: none. */
static bool next_extent(int fd, uint64_t at, uint64_t size, struct manifest_extent *ret)
{
	off_t data = lseek(fd, (off_t)at, SEEK_DATA), hole;

	if (data < 0 && errno == ENXIO)
		return false;
	if (data < 0) { /* the file system does not support SEEK_DATA */
		*ret = (struct manifest_extent){ .offset = at, .len = size - at };
		return true;
	}
	if ((uint64_t)data >= size)
		return false;
	hole = lseek(fd, data, SEEK_HOLE);
	if (hole < 0 || (uint64_t)hole > size)
		hole = (off_t)size;
	*ret = (struct manifest_extent){ .offset = (uint64_t)data, .len = (uint64_t)(hole - data) };
	return hole > data; /* else truncated concurrently */
}

int capture_find_extents(int fd, uint64_t size, struct manifest_extent **ret, size_t *ret_n, bool *ret_sparse,
			 struct fault *f)
{
	_cleanup_free_ struct manifest_extent *list = calloc(MANIFEST_EXTENTS_MAX, sizeof(*list));
	struct manifest_extent e;
	uint64_t at = 0;
	size_t n = 0;

	if (!list)
		return fault_errno(f, ENOMEM, "extents");
	while (at < size && next_extent(fd, at, size, &e)) {
		add_extent(list, &n, e.offset, e.len);
		at = e.offset + e.len;
	}
	*ret_sparse = n != 1 || list[0].offset != 0 || list[0].len != size;
	*ret_n = n;
	*ret = *ret_sparse ? TAKE_PTR(list) : NULL;
	return 0;
}
