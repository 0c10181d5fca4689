/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/capture-sync.h"

#include "tap.h"
#include "tree-fixture.h"

/* Replaces the C library's function: a test that waits for a call reads its arguments from the pipe. */
static int calls[2] = { -EBADF, -EBADF };

int syncfs(int fd)
{
	return write(calls[1], &fd, sizeof(fd)) == (ssize_t)sizeof(fd) ? 0 : -1;
}

static int await_call(void)
{
	int fd = -EBADF;

	return read(calls[0], &fd, sizeof(fd)) == (ssize_t)sizeof(fd) ? fd : -EBADF;
}

/* No reader is left. */
static bool was_called(void)
{
	int fd;

	return fcntl(calls[0], F_SETFL, O_NONBLOCK) < 0 || read(calls[0], &fd, sizeof(fd)) >= 0;
}

static void a_small_tree_is_left_to_the_end(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF };
	struct capture_sync *s;

	CHECK(tree_make(&t) && pipe2(calls, O_CLOEXEC) == 0);
	s = capture_sync_new(t.fd);
	CHECK(s);
	capture_sync_add(s, 1000, 1000000);
	capture_sync_add(s, 1000, 1000000);
	capture_sync_free(s);
	CHECK(!was_called());
	fd_close(calls[0]);
	fd_close(calls[1]);
}

/* Many files, or much data; and never through the descriptor whose errors are the caller's. */
static void much_is_written_out_on_the_way(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF };
	struct capture_sync *s;
	struct stat a, b;
	int fd;

	CHECK(tree_make(&t) && pipe2(calls, O_CLOEXEC) == 0);
	s = capture_sync_new(t.fd);
	CHECK(s);
	capture_sync_add(s, 1000000, 0);
	fd = await_call();
	CHECK(fd >= 0 && fd != t.fd && fstat(fd, &a) == 0 && fstat(t.fd, &b) == 0 && a.st_ino == b.st_ino);
	capture_sync_add(s, 0, UINT64_MAX / 2);
	CHECK(await_call() == fd);
	capture_sync_free(s);
	CHECK(!was_called());
	fd_close(calls[0]);
	fd_close(calls[1]);
}

static void without_it_nothing_is_done(void)
{
	CHECK(!capture_sync_new(-EBADF));
	capture_sync_add(NULL, 1, 1);
	capture_sync_free(NULL);
}

TAP_MAIN(T(a_small_tree_is_left_to_the_end), T(much_is_written_out_on_the_way), T(without_it_nothing_is_done))
