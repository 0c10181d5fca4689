/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/capture-direct.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PIECES 3
#define BLOCK ((size_t)4096) /* what any disk of today can be written in */

struct capture_direct {
	aio_context_t context;
	char *memory; /* PIECES * CAPTURE_DIRECT_STEP */
	struct iocb pieces[PIECES];
	bool on_its_way[PIECES];
	size_t next;
	int fd;
	uint64_t at; /* where the next piece goes */
	int error;   /* errno of the first piece that was not written */
};

struct capture_direct *capture_direct_new(void)
{
	struct capture_direct *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->memory = mmap(NULL, PIECES * CAPTURE_DIRECT_STEP, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (d->memory == MAP_FAILED)
		d->memory = NULL;
	if (d->memory && syscall(SYS_io_setup, PIECES, &d->context) == 0)
		return d;
	capture_direct_free(d);
	return NULL;
}

void capture_direct_free(struct capture_direct *d)
{
	if (!d)
		return;
	/* Waits for what is on its way: it reads from MEMORY. */
	if (d->context)
		(void)syscall(SYS_io_destroy, d->context);
	if (d->memory)
		(void)munmap(d->memory, PIECES * CAPTURE_DIRECT_STEP);
	free(d);
}

static int set_direct(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 ? -1 : fcntl(fd, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT);
}

static uint64_t round_up(uint64_t n)
{
	return (n + BLOCK - 1) & ~(uint64_t)(BLOCK - 1);
}

/*
 * With its blocks and its length beforehand: a write that makes the file longer is waited for.  Where there are no blocks for it, it
 * says so now; a file system that does not know how gets them with each write.
 */
int capture_direct_begin(struct capture_direct *d, int fd, uint64_t size, struct fault *f)
{
	if (set_direct(fd, true) < 0)
		return 0;
	if (fallocate(fd, 0, 0, (off_t)round_up(size)) < 0 && (errno == ENOSPC || errno == EDQUOT))
		return fault_errno(f, errno, "write");
	d->fd = fd;
	d->at = 0;
	d->error = 0;
	return 1;
}

/* What the kernel does not want to write directly it writes as ever; the next ones too. */
static int write_rest(struct capture_direct *d, const struct iocb *piece, size_t done)
{
	const char *bytes = (const char *)(uintptr_t)piece->aio_buf; // NOLINT(performance-no-int-to-ptr)

	if (set_direct(d->fd, false) < 0)
		return errno;
	while (done < piece->aio_nbytes) {
		ssize_t n = pwrite(d->fd, bytes + done, piece->aio_nbytes - done,
				   (off_t)(piece->aio_offset + (int64_t)done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		done += (size_t)n;
	}
	return 0;
}

static void settle(struct capture_direct *d, const struct io_event *event)
{
	struct iocb *piece = d->pieces + event->data;
	size_t done = event->res > 0 ? (size_t)event->res : 0;
	int error = event->res < 0 ? (int)-event->res : 0;

	d->on_its_way[event->data] = false;
	if (error == EINVAL || (error == 0 && done < piece->aio_nbytes))
		error = write_rest(d, piece, done);
	if (error && !d->error)
		d->error = error;
}

static int wait_for_one(struct capture_direct *d, struct fault *f)
{
	struct io_event event;
	long n;

	do
		n = syscall(SYS_io_getevents, d->context, 1, 1, &event, NULL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fault_errno(f, errno, "wait for a write");
	settle(d, &event);
	return 0;
}

int capture_direct_buffer(struct capture_direct *d, void **ret, struct fault *f)
{
	int r = 0;

	while (r == 0 && d->on_its_way[d->next])
		r = wait_for_one(d, f);
	if (r == 0 && d->error)
		r = fault_errno(f, d->error, "write");
	*ret = d->memory + d->next * CAPTURE_DIRECT_STEP;
	return r;
}

int capture_direct_put(struct capture_direct *d, size_t len, struct fault *f)
{
	char *bytes = d->memory + d->next * CAPTURE_DIRECT_STEP;
	const size_t whole = (size_t)round_up(len);
	struct iocb *piece = d->pieces + d->next;
	long n;

	memset(bytes + len, 0, whole - len);
	*piece = (struct iocb){ .aio_data = d->next,
				.aio_lio_opcode = IOCB_CMD_PWRITE,
				.aio_fildes = (uint32_t)d->fd,
				.aio_buf = (uintptr_t)bytes,
				.aio_nbytes = whole,
				.aio_offset = (int64_t)d->at };
	d->at += len;
	do
		n = syscall(SYS_io_submit, d->context, 1, &piece);
	while (n < 0 && errno == EINTR);
	d->on_its_way[d->next] = n == 1;
	if (n < 0 && errno != EINVAL && errno != EAGAIN)
		return fault_errno(f, errno, "write");
	if (n != 1) {
		int error = write_rest(d, piece, 0);

		if (error)
			return fault_errno(f, error, "write");
	}
	d->next = (d->next + 1) % PIECES;
	return 0;
}

int capture_direct_end(struct capture_direct *d, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; i < PIECES; i++)
		while (r == 0 && d->on_its_way[i])
			r = wait_for_one(d, f);
	if (r == 0 && d->error)
		r = fault_errno(f, d->error, "write");
	if (r == 0 && (set_direct(d->fd, false) < 0 || ftruncate(d->fd, (off_t)d->at) < 0))
		r = fault_errno(f, errno, "cut a file to its length");
	return r;
}
