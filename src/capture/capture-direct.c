/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/capture-direct.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECES 2	     /* one is filled while the other is written */
#define BLOCK ((size_t)4096) /* alignment that every current disk accepts */
#define STACK_SIZE ((size_t)64 * 1024)

struct capture_direct {
	char *memory; /* PIECES * CAPTURE_DIRECT_STEP */
	pthread_t thread;
	pthread_mutex_t lock; /* protects the fields below */
	pthread_cond_t moved;
	size_t len[PIECES]; /* bytes of this chunk to write; 0: free */
	size_t next;	    /* chunk that is being filled */
	int fd;
	uint64_t at; /* offset of the next chunk */
	int error;   /* errno of the first chunk that failed */
	bool closing;
};

static int set_direct(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 ? -1 : fcntl(fd, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT);
}

/* EINVAL: write this chunk and the next ones through the page cache. */
static int write_piece(int fd, const char *bytes, size_t len, uint64_t at)
{
	bool tried = false;

	while (len > 0) {
		ssize_t n = pwrite(fd, bytes, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0 || (n < 0 && (errno != EINVAL || tried)))
			return n < 0 ? errno : EIO;
		if (n > 0) {
			bytes += n;
			at += (uint64_t)n;
			len -= (size_t)n;
		}
		if (len > 0 && !tried && set_direct(fd, false) < 0)
			return errno;
		tried = true;
	}
	return 0;
}

/* Chunks are written in order, each at the end of the file: a file that only grows has no unwritten extents. */
static void *work(void *arg)
{
	struct capture_direct *d = arg;
	size_t piece = 0;

	(void)pthread_mutex_lock(&d->lock);
	for (;;) {
		const size_t len = d->len[piece];
		int error = d->error;

		if (len == 0 && d->closing)
			break;
		if (len == 0) {
			(void)pthread_cond_wait(&d->moved, &d->lock);
			continue;
		}
		if (!error) {
			const uint64_t at = d->at;
			const int fd = d->fd;

			(void)pthread_mutex_unlock(&d->lock);
			error = write_piece(fd, d->memory + piece * CAPTURE_DIRECT_STEP, len, at);
			(void)pthread_mutex_lock(&d->lock);
		}
		d->error = error;
		d->at += len;
		d->len[piece] = 0;
		piece = (piece + 1) % PIECES;
		(void)pthread_cond_signal(&d->moved);
	}
	(void)pthread_mutex_unlock(&d->lock);
	return NULL;
}

static int start(struct capture_direct *d)
{
	pthread_attr_t attr;
	int r;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, STACK_SIZE);
	r = pthread_create(&d->thread, &attr, work, d);
	(void)pthread_attr_destroy(&attr);
	return r;
}

static void destroy(struct capture_direct *d)
{
	(void)munmap(d->memory, PIECES * CAPTURE_DIRECT_STEP);
	(void)pthread_cond_destroy(&d->moved);
	(void)pthread_mutex_destroy(&d->lock);
	free(d);
}

struct capture_direct *capture_direct_new(void)
{
	struct capture_direct *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->memory = mmap(NULL, PIECES * CAPTURE_DIRECT_STEP, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (d->memory == MAP_FAILED) {
		free(d);
		return NULL;
	}
	(void)pthread_mutex_init(&d->lock, NULL);
	(void)pthread_cond_init(&d->moved, NULL);
	if (start(d) == 0)
		return d;
	destroy(d);
	return NULL;
}

void capture_direct_free(struct capture_direct *d)
{
	if (!d)
		return;
	(void)pthread_mutex_lock(&d->lock);
	d->closing = true;
	(void)pthread_cond_signal(&d->moved);
	(void)pthread_mutex_unlock(&d->lock);
	(void)pthread_join(d->thread, NULL);
	destroy(d);
}

bool capture_direct_begin(struct capture_direct *d, int fd)
{
	if (set_direct(fd, true) < 0)
		return false;
	/* No write is in progress: no lock needed. */
	(void)pthread_mutex_lock(&d->lock);
	d->fd = fd;
	d->at = 0;
	d->error = 0;
	(void)pthread_mutex_unlock(&d->lock);
	return true;
}

static int wait_for(struct capture_direct *d, size_t piece, struct fault *f)
{
	int error;

	(void)pthread_mutex_lock(&d->lock);
	while (d->len[piece] > 0)
		(void)pthread_cond_wait(&d->moved, &d->lock);
	error = d->error;
	(void)pthread_mutex_unlock(&d->lock);
	return error ? fault_errno(f, error, "write") : 0;
}

int capture_direct_buffer(struct capture_direct *d, void **ret, struct fault *f)
{
	*ret = d->memory + d->next * CAPTURE_DIRECT_STEP;
	return wait_for(d, d->next, f);
}

/* The last chunk is padded to a full block, then the file is truncated. */
void capture_direct_put(struct capture_direct *d, size_t len)
{
	const size_t whole = (len + BLOCK - 1) & ~(BLOCK - 1);

	memset(d->memory + d->next * CAPTURE_DIRECT_STEP + len, 0, whole - len);
	(void)pthread_mutex_lock(&d->lock);
	d->len[d->next] = whole;
	(void)pthread_cond_signal(&d->moved);
	(void)pthread_mutex_unlock(&d->lock);
	d->next = (d->next + 1) % PIECES;
}

int capture_direct_end(struct capture_direct *d, uint64_t len, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; i < PIECES; i++)
		r = wait_for(d, i, r < 0 ? NULL : f);
	if (r == 0 && (set_direct(d->fd, false) < 0 || ftruncate(d->fd, (off_t)len) < 0))
		r = fault_errno(f, errno, "truncate a file to its length");
	return r;
}
