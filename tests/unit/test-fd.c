/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "base/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "tap.h"

/* A directory of this test alone; its name is left in PATH. */
static int scratch(char path[static sizeof("/tmp/test-fd-XXXXXX")])
{
	memcpy(path, "/tmp/test-fd-XXXXXX", sizeof("/tmp/test-fd-XXXXXX"));
	return mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

static void discard(const char *path)
{
	(void)!path_remove_tree(open("/tmp", O_PATH | O_CLOEXEC), path + strlen("/tmp/"), NULL);
}

static size_t count_entries(int dirfd)
{
	DIR *dir = fdopendir(openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	const struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	if (dir)
		(void)closedir(dir);
	return n;
}

/* Does FN return true in a process of its own? */
static bool holds_in_child(bool (*fn)(void))
{
	pid_t pid;
	int status;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(fn() ? 0 : 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void close_keeps_errno(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	errno = EXDEV;
	CHECK(fd_close(fd) == -EBADF && errno == EXDEV);
	CHECK(fd_close(fd) == -EBADF && errno == EXDEV);
	CHECK(fd_close(-EBADF) == -EBADF && errno == EXDEV);
	CHECK(fcntl(fd, F_GETFD) < 0);
}

static void take_leaves_an_empty_one(void)
{
	int fd = 5, taken = TAKE_FD(fd);

	CHECK(taken == 5 && fd == -EBADF);
}

static void files_of_others_are_not_private(void)
{
	_cleanup_close_ int fd = memfd_create("private", MFD_CLOEXEC), dir = open("/", O_RDONLY | O_CLOEXEC);
	_cleanup_fault_ struct fault f = { 0 };
	uid_t uid = geteuid();

	CHECK(fd >= 0 && dir >= 0);
	CHECK(fchmod(fd, 0644) == 0 && fd_require_private(fd, uid, NULL) == 0);
	CHECK(fd_require_private(fd, uid + 1, &f) == -EPERM);
	CHECK(strstr(fault_text(&f), "fix with chown"));
	CHECK(fchmod(fd, 0664) == 0 && fd_require_private(fd, uid, &f) == -EPERM);
	CHECK(str_eq(fault_text(&f), "writable by others (mode 0664): fix with chmod go-w"));
	CHECK(fchmod(fd, 0602) == 0 && fd_require_private(fd, uid, NULL) == -EPERM);
	CHECK(fd_require_private(dir, uid, &f) == -EINVAL && str_eq(fault_text(&f), "not a regular file"));
	CHECK(fd_require_private(-EBADF, uid, NULL) == -EBADF);
}

/* Reading LEN bytes with the limit MAX. */
static int read_back(size_t len, size_t max, size_t *ret_len, char **ret)
{
	_cleanup_close_ int fd = memfd_create("read", MFD_CLOEXEC);
	_cleanup_free_ char *bytes = malloc(len + 1);

	memset(bytes, 'x', len);
	if (fd_write_all(fd, bytes, len, NULL) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return -EIO;
	return fd_read_all(fd, max, ret, ret_len, NULL);
}

static void files_are_read_up_to_the_limit(void)
{
	static const size_t lengths[] = { 0, 1, 4095, 4096, 4097, 8191, 8192, 100000 };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		_cleanup_free_ char *text = NULL, *exact = NULL, *none = NULL, *any = NULL;
		size_t n = lengths[i], len = 0;

		CHECK(read_back(n, n + 1, &len, &text) == 0 && len == n && strlen(text) == n);
		CHECK(read_back(n, n, &len, &exact) == 0 && len == n && exact[n] == '\0');
		CHECK(read_back(n, SIZE_MAX, &len, &any) == 0 && len == n);
		if (n > 0)
			CHECK(read_back(n, n - 1, &len, &none) == -EFBIG && !none);
	}
}

static void a_huge_limit_costs_no_memory(void)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;

	/* More than any address space has: allocating the limit would fail. */
	CHECK(read_back(10, (size_t)1 << 60, &len, &text) == 0 && len == 10);
}

static void read_errors_are_reported(void)
{
	_cleanup_close_ int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_fault_ struct fault f = { 0 };
	char *text = NULL;
	size_t len;

	CHECK(fd_read_all(dir, 10, &text, &len, &f) == -EISDIR && !text && f.code == EISDIR);
	CHECK(fd_write_all(dir, "x", 1, NULL) == -EBADF);
}

static void long_writes_through_a_pipe_are_complete(void)
{
	_cleanup_free_ char *text = NULL, *bytes = calloc(1, 1 << 20);
	int pipes[2], status;
	size_t len = 0;
	pid_t pid;

	CHECK(bytes && pipe2(pipes, O_CLOEXEC) == 0);
	memset(bytes, 'p', 1 << 20);
	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		fd_close(pipes[0]);
		_exit(fd_write_all(pipes[1], bytes, 1 << 20, NULL) == 0 ? 0 : 1);
	}
	fd_close(pipes[1]);
	CHECK(fd_read_all(pipes[0], 2 << 20, &text, &len, NULL) == 0 && len == 1 << 20);
	fd_close(pipes[0]);
	CHECK(memcmp(text, bytes, len) == 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static bool content_is(int dirfd, const char *name, const char *wanted, mode_t mode)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t len;

	return fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 07777) == mode &&
	       fd_read_all(fd, 1000, &text, &len, NULL) == 0 && str_eq(text, wanted);
}

static void replace_makes_and_replaces_with_the_asked_mode(void)
{
	char path[sizeof("/tmp/test-fd-XXXXXX")];
	_cleanup_close_ int dir = scratch(path), opath = open(path, O_PATH | O_CLOEXEC);
	mode_t mask = umask(077);

	CHECK(dir >= 0);
	CHECK(fd_replace_file(dir, "f", "one", 3, 0644, NULL) == 0 && content_is(dir, "f", "one", 0644));
	CHECK(fd_replace_file(opath, "f", "two!", 4, 0600, NULL) == 0 && content_is(dir, "f", "two!", 0600));
	CHECK(fd_replace_file(dir, "f", NULL, 0, 0400, NULL) == 0 && content_is(dir, "f", "", 0400));
	CHECK(count_entries(dir) == 1);
	(void)umask(mask);
	discard(path);
}

static void replace_does_not_write_through_a_link(void)
{
	char path[sizeof("/tmp/test-fd-XXXXXX")];
	_cleanup_close_ int dir = scratch(path);

	CHECK(fd_replace_file(dir, "target", "old", 3, 0600, NULL) == 0 &&
	      symlinkat("target", dir, "link") == 0);
	CHECK(fd_replace_file(dir, "link", "new", 3, 0600, NULL) == 0);
	CHECK(content_is(dir, "target", "old", 0600) && content_is(dir, "link", "new", 0600));
	discard(path);
}

static void a_failed_replace_leaves_all_as_it_was(void)
{
	char path[sizeof("/tmp/test-fd-XXXXXX")];
	_cleanup_close_ int dir = scratch(path);
	_cleanup_fault_ struct fault f = { 0 };

	/* A directory has the name: everything works up to the rename. */
	CHECK(mkdirat(dir, "d", 0700) == 0);
	CHECK(fd_replace_file(dir, "d", "x", 1, 0600, &f) == -EISDIR);
	CHECK(str_eq(fault_text(&f), "replace 'd': rename: Is a directory"));
	CHECK(count_entries(dir) == 1);
	CHECK(fd_replace_file(dir, "a/b", "x", 1, 0600, NULL) == -EINVAL);
	CHECK(fd_replace_file(dir, "", "x", 1, 0600, NULL) == -EINVAL);
	CHECK(count_entries(dir) == 1);
	discard(path);
}

static bool limited_replace_fails(void)
{
	char path[sizeof("/tmp/test-fd-XXXXXX")];
	_cleanup_close_ int dir = scratch(path);
	struct rlimit limit = { .rlim_cur = 10, .rlim_max = 10 };
	char bytes[100] = { 0 };
	bool kept;

	kept = sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL) == 0 &&
	       fd_replace_file(dir, "f", "old", 3, 0600, NULL) == 0 && setrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	       fd_replace_file(dir, "f", bytes, sizeof(bytes), 0600, NULL) == -EFBIG &&
	       content_is(dir, "f", "old", 0600) && count_entries(dir) == 1;
	discard(path);
	return kept;
}

static void a_full_disk_keeps_the_old_file(void)
{
	CHECK(holds_in_child(limited_replace_fails));
}

static bool closed_standard_ones_are_filled(void)
{
	struct stat null, st;

	fd_close(0);
	fd_close(2);
	if (fd_sanitize(NULL) < 0 || stat("/dev/null", &null) < 0)
		return false;
	for (int fd = 0; fd < 3; fd += 2)
		if (fstat(fd, &st) < 0 || st.st_rdev != null.st_rdev || fcntl(fd, F_GETFD) != 0)
			return false;
	return true;
}

static bool others_get_cloexec(void)
{
	int low = open("/dev/null", O_RDONLY),
	    high = fcntl(low, F_DUPFD, 200); /* on purpose without CLOEXEC */

	return low > 2 && high >= 200 && fcntl(low, F_GETFD) == 0 && fd_sanitize(NULL) == 0 &&
	       fcntl(low, F_GETFD) == FD_CLOEXEC && fcntl(high, F_GETFD) == FD_CLOEXEC &&
	       fcntl(1, F_GETFD) == 0;
}

static bool others_get_cloexec_without_close_range(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	bool blocked = ctx && seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(close_range), 0) == 0 &&
		       seccomp_load(ctx) == 0;

	seccomp_release(ctx);
	return blocked && others_get_cloexec();
}

static void sanitize_fills_the_standard_descriptors(void)
{
	CHECK(holds_in_child(closed_standard_ones_are_filled));
}

static void sanitize_marks_every_other_descriptor(void)
{
	CHECK(holds_in_child(others_get_cloexec));
	CHECK(holds_in_child(others_get_cloexec_without_close_range));
}

TAP_MAIN(T(close_keeps_errno), T(take_leaves_an_empty_one), T(files_of_others_are_not_private),
	 T(files_are_read_up_to_the_limit), T(a_huge_limit_costs_no_memory), T(read_errors_are_reported),
	 T(long_writes_through_a_pipe_are_complete), T(replace_makes_and_replaces_with_the_asked_mode),
	 T(replace_does_not_write_through_a_link), T(a_failed_replace_leaves_all_as_it_was),
	 T(a_full_disk_keeps_the_old_file), T(sanitize_fills_the_standard_descriptors),
	 T(sanitize_marks_every_other_descriptor))
