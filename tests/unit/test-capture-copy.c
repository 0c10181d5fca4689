/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/capture-copy.h"

#include <linux/fs.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "tap.h"
#include "tree-fixture.h"

#define SIZE ((size_t)300 * 1000)

/*
 * A file system that shares blocks, so that it need not be one: what is cloned becomes SHOWN, and, if AFTER is set, somebody
 * writes to the first file at once.
 */
static struct {
	bool can;
	char shown;
	bool after;
	int age_s; /* by which every file looks older than it is */
} fake;

int statx(int fd, const char *name, int flags, unsigned int mask, struct statx *ret)
{
	if (syscall(SYS_statx, fd, name, flags, mask, ret) < 0)
		return -1;
	ret->stx_ctime.tv_sec -= fake.age_s;
	return 0;
}

static bool fill(int fd, char c)
{
	char bytes[1000];
	bool good = true;

	memset(bytes, c, sizeof(bytes));
	for (size_t at = 0; good && at < SIZE; at += sizeof(bytes))
		good = pwrite(fd, bytes, sizeof(bytes), (off_t)at) == (ssize_t)sizeof(bytes);
	return good;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	int from;

	va_start(ap, request);
	from = va_arg(ap, int);
	va_end(ap);
	if (request != FICLONE || !fake.can) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (fake.after && pwrite(from, "!", 1, SIZE) != 1)
		return -1;
	return fill(fd, fake.shown) ? 0 : -1;
}

static struct digest digest_of(char c)
{
	_cleanup_free_ char *bytes = malloc(SIZE);
	struct digest d = { 0 };

	if (bytes) {
		memset(bytes, c, SIZE);
		digest_bytes(bytes, SIZE, &d);
	}
	return d;
}

/* What is told of a file full of 's' whose clone shows 'c'. */
static void the_digest_is_of(bool local, char want)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF };
	_cleanup_close_ int in = -EBADF, out = -EBADF;
	_cleanup_free_ void *buffer = malloc(CAPTURE_BUFFER);
	struct capture_copy c = { .size = SIZE, .clone = true, .local = local, .buffer = buffer };
	struct digest d = digest_of(want);

	CHECK(tree_make(&t) && buffer);
	in = openat(t.fd, "in", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	out = openat(t.fd, "out", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(in >= 0 && out >= 0 && fill(in, 's'));
	c.in = in;
	c.out = out;
	CHECK(capture_copy(&c, NULL) == 0 && c.cloned == fake.can && c.copied == SIZE);
	CHECK(digest_equal(&c.digest, &d));
}

static void a_file_at_rest_is_hashed_where_its_pages_are(void)
{
	fake.can = true;
	fake.after = false;
	fake.shown = 'c';
	fake.age_s = 1;
	the_digest_is_of(true, 's');
}

static void a_file_that_changes_under_its_clone_has_the_digest_of_the_clone(void)
{
	fake.can = fake.after = true;
	fake.shown = 'c';
	fake.age_s = 1;
	the_digest_is_of(true, 'c');
}

static void times_that_could_stand_still_are_not_trusted(void)
{
	fake.can = true;
	fake.after = false;
	fake.shown = 'c';
	fake.age_s = -1;
	the_digest_is_of(true, 'c');
	fake.age_s = 1;
	the_digest_is_of(false, 'c'); /* another machine's */
}

static void what_cannot_be_cloned_is_copied(void)
{
	fake.can = false;
	the_digest_is_of(true, 's');
}

TAP_MAIN(T(a_file_at_rest_is_hashed_where_its_pages_are),
	 T(a_file_that_changes_under_its_clone_has_the_digest_of_the_clone),
	 T(times_that_could_stand_still_are_not_trusted), T(what_cannot_be_cloned_is_copied))
