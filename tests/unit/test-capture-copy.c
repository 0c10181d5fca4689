/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "capture/capture-copy.h"

#include <linux/fs.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "tap.h"
#include "tree-fixture.h"

#define SIZE ((size_t)300 * 1000)

/*
 * Emulates a file system that shares blocks: a clone reads as SHOWN and, if AFTER is set, another process writes to the first
 * file at once.
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

/* The result for a file full of 's' whose clone shows 'c'. */
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

static void a_file_that_cannot_be_cloned_is_copied(void)
{
	fake.can = false;
	the_digest_is_of(true, 's');
}

#define MIB ((uint64_t)1024 * 1024)

static char byte_at(uint64_t offset)
{
	return (char)(offset * 2654435761u >> 13);
}

/* A file of LEN bytes of which no two pieces are alike. */
static bool make_long(int fd, uint64_t len)
{
	char bytes[4096];

	for (uint64_t at = 0; at < len; at += sizeof(bytes)) {
		size_t n = len - at < sizeof(bytes) ? (size_t)(len - at) : sizeof(bytes);

		for (size_t i = 0; i < n; i++)
			bytes[i] = byte_at(at + i);
		if (pwrite(fd, bytes, n, (off_t)at) != (ssize_t)n)
			return false;
	}
	return true;
}

/* OUT is the first LEN bytes of that, no more and no less. */
static bool is_long(int out, uint64_t len)
{
	char bytes[4096];
	struct stat st;

	if (fstat(out, &st) < 0 || (uint64_t)st.st_size != len)
		return false;
	for (uint64_t at = 0; at < len; at += sizeof(bytes)) {
		size_t n = len - at < sizeof(bytes) ? (size_t)(len - at) : sizeof(bytes);

		if (pread(out, bytes, n, (off_t)at) != (ssize_t)n)
			return false;
		for (size_t i = 0; i < n; i++)
			if (bytes[i] != byte_at(at + i))
				return false;
	}
	return true;
}

static void a_long_file_arrives(struct capture_direct *direct, int in, int out, uint64_t len, uint64_t asked)
{
	_cleanup_free_ void *buffer = malloc(CAPTURE_BUFFER);
	struct capture_copy c = { .in = in, .out = out, .size = asked, .buffer = buffer, .direct = direct };
	struct digest d;

	CHECK(buffer && make_long(in, len));
	CHECK(capture_copy(&c, NULL) == 0 && c.copied == (asked < len ? asked : len) &&
	      is_long(out, c.copied));
	CHECK(lseek(out, 0, SEEK_SET) == 0 && digest_fd(out, &d, NULL) == 0 && digest_equal(&d, &c.digest));
}

static void large_files_are_written_past_the_cache(void)
{
	static const uint64_t lens[] = { MIB, MIB + 1, 2 * MIB - 1, 3 * MIB + 4095, 3 * MIB + 4096 };
	_cleanup_capture_direct_ struct capture_direct *direct = capture_direct_new();
	_cleanup_tree_ struct tree t = { .fd = -EBADF };

	CHECK(tree_make(&t) && direct);
	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		_cleanup_close_ int in = openat(t.fd, "in", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		_cleanup_close_ int out = openat(t.fd, "out", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		CHECK(in >= 0 && out >= 0);
		a_long_file_arrives(direct, in, out, lens[i], lens[i]);
	}
}

static void a_large_file_may_be_shorter_or_longer_than_it_was(void)
{
	_cleanup_capture_direct_ struct capture_direct *direct = capture_direct_new();
	_cleanup_tree_ struct tree t = { .fd = -EBADF };

	CHECK(tree_make(&t) && direct);
	for (uint64_t asked = 2 * MIB; asked < 9 * MIB; asked += 2 * MIB) {
		_cleanup_close_ int in = openat(t.fd, "in", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		_cleanup_close_ int out = openat(t.fd, "out", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		CHECK(in >= 0 && out >= 0);
		a_long_file_arrives(direct, in, out, 5 * MIB + 777, asked + 1);
	}
}

/* Memory takes no direct writes, or only seems to: the file is the same. */
static void large_files_are_written_to_memory_file_systems(void)
{
	_cleanup_capture_direct_ struct capture_direct *direct = capture_direct_new();
	_cleanup_close_ int in = memfd_create("in", MFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC);

	CHECK(direct && in >= 0 && out >= 0);
	a_long_file_arrives(direct, in, out, 2 * MIB + 5, 2 * MIB + 5);
}

/* The next file is cloned again. */
static void a_large_file_that_cannot_be_written_is_an_error(void)
{
	_cleanup_capture_direct_ struct capture_direct *direct = capture_direct_new();
	_cleanup_free_ void *buffer = malloc(CAPTURE_BUFFER);
	_cleanup_tree_ struct tree t = { .fd = -EBADF };
	_cleanup_close_ int in = -EBADF, out = -EBADF, second = -EBADF;
	_cleanup_fault_ struct fault f = { 0 };
	struct capture_copy c = { .size = 4 * MIB, .buffer = buffer, .direct = direct };
	struct rlimit was, few = { 2 * MIB, 2 * MIB };

	CHECK(tree_make(&t) && direct && buffer && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	in = openat(t.fd, "in", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	out = openat(t.fd, "out", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	second = openat(t.fd, "second", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(in >= 0 && out >= 0 && second >= 0 && make_long(in, 4 * MIB));
	CHECK(getrlimit(RLIMIT_FSIZE, &was) == 0);
	few.rlim_max = was.rlim_max;
	CHECK(setrlimit(RLIMIT_FSIZE, &few) == 0);
	c.in = in;
	c.out = out;
	CHECK(capture_copy(&c, &f) == -EFBIG && f.code == EFBIG && !c.read_failed);
	CHECK(setrlimit(RLIMIT_FSIZE, &was) == 0);
	a_long_file_arrives(direct, in, second, 4 * MIB, 4 * MIB);
}

TAP_MAIN(T(a_file_at_rest_is_hashed_where_its_pages_are),
	 T(a_file_that_changes_under_its_clone_has_the_digest_of_the_clone),
	 T(times_that_could_stand_still_are_not_trusted), T(a_file_that_cannot_be_cloned_is_copied),
	 T(large_files_are_written_past_the_cache), T(a_large_file_may_be_shorter_or_longer_than_it_was),
	 T(large_files_are_written_to_memory_file_systems),
	 T(a_large_file_that_cannot_be_written_is_an_error))
