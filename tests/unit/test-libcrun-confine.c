/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "oci/libcrun/libcrun-confine.h"
#include "oci/libcrun/libcrun-target.h"
#include "oci/libcrun/libcrun-wrap.h"
#include "tap.h"

/*
 * The replaced calls by themselves, as libcrun makes them: no check came before, so a tree that changes after a check looks
 * the same to them.  The linker wraps the names in this file as it wraps libcrun's.
 */

static char tree[] = "/tmp/custody-test-confine.XXXXXX";
static int rootfd = -EBADF, watched = -EBADF;
static bool watched_is_open;

/* libcrun's side: which parameters a function has depends on the version. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
int libcrun_make_error(libcrun_error_t *err, int status, const char *msg, ...)
{
	return -status - 1;
}

int libcrun_error_release(libcrun_error_t *err)
{
	*err = NULL;
	return 0;
}

void libcrun_error(int status, const char *msg, ...)
{
}

int libcrun_do_pivot_root(struct libcrun_container_s *container, bool no_pivot, const char *rootfs,
			  libcrun_error_t *err)
{
	watched_is_open = fcntl(watched, F_GETFD) >= 0;
	return 0;
}

int libcrun_join_process(JOIN_PARAMETERS)
{
	return libcrun_do_pivot_root(container, false, NULL, err);
}

static unsigned int options_of_filter;

int libcrun_open_seccomp_bpf(struct libcrun_seccomp_gen_ctx_s *ctx, int *fd, libcrun_error_t *err)
{
	options_of_filter = ctx->options;
	return 0;
}

int crun_safe_create_and_open_ref_at(bool dir, int dirfd, ROOT_PARAMETERS, const char *path, int mode,
				     libcrun_error_t *err)
{
	return safe_openat(dirfd, ROOT_ARGUMENTS(root), path, O_PATH | O_CLOEXEC, mode, err);
}

int safe_openat(int dirfd, ROOT_PARAMETERS, const char *path, int flags, int mode, libcrun_error_t *err)
{
	return path_open_in_root(dirfd, path, flags, (mode_t)mode, NULL);
}

#pragma GCC diagnostic pop

static bool is_target(const char *name)
{
	_cleanup_close_ int fd =
		__wrap_safe_openat(rootfd, ROOT_ARGUMENTS(tree), name, O_PATH | O_CLOEXEC, 0, NULL);

	return fd >= 0;
}

/* Closes GOT. */
static bool is_same_dir(int got, int want)
{
	struct stat a, b;
	bool same =
		fstat(got, &a) == 0 && fstat(want, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;

	if (got >= 0)
		(void)close(got);
	return same;
}

static void a_mount_is_not_led_to_a_reserved_directory(void)
{
	CHECK(mkdirat(rootfd, "proc", 0755) == 0 && mkdirat(rootfd, "proc/sys", 0755) == 0 &&
	      mkdirat(rootfd, "process", 0755) == 0);
	CHECK(symlinkat("/proc", rootfd, "a") == 0 && symlinkat("/", rootfd, "b") == 0 &&
	      symlinkat("process", rootfd, "c") == 0 && symlinkat("../..", rootfd, "process/up") == 0);
	CHECK(is_target("proc") && is_target("/proc/sys") && is_target("process") && is_target("/c") &&
	      is_target("."));
	CHECK(!is_target("a") && !is_target("/a/sys") && !is_target("b") && !is_target("b/proc"));
	CHECK(!is_target("c/up") && !is_target("//c/up/proc/sys"));
	/* No link is on the way of these. */
	CHECK(!is_target("process/../proc") && !is_target("./proc") && !is_target("process/.."));
	CHECK(!is_target("process/../proc/sys") && is_target("process/../process"));
}

static void a_name_of_the_image_is_not_followed(void)
{
	int fd;

	CHECK(mkdirat(rootfd, "real", 0755) == 0 && symlinkat("real", rootfd, "dev") == 0);
	CHECK(openat(rootfd, "dev", O_RDONLY | O_DIRECTORY) < 0);
	fd = openat(rootfd, "real", O_RDONLY | O_DIRECTORY);
	CHECK(fd >= 0 && close(fd) == 0);
	/* Our own calls say themselves what they want. */
	fd = openat(rootfd, "dev", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0 && close(fd) == 0);
}

/* A path of a target stays in the root and has no link; this program's own paths mean what they say. */
static void PLAT_2_only_a_creation_looks_up_targets(void)
{
	int fd, top = open("/", O_PATH | O_CLOEXEC);

	CHECK(mkdirat(rootfd, "top", 0700) == 0 && mkdirat(rootfd, "top/in", 0700) == 0);
	CHECK(symlinkat("top", rootfd, "linked") == 0);
	fd = openat(rootfd, "top", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(is_same_dir(openat(fd, "..", OPEN_PLAIN_TARGET), rootfd));
	target_begin();
	CHECK(is_same_dir(openat(fd, "..", OPEN_PLAIN_TARGET), fd));
	CHECK(openat(rootfd, "linked/in", OPEN_PLAIN_TARGET) < 0 && errno == ELOOP);
	target_end();
	CHECK(is_same_dir(openat(fd, "..", OPEN_PLAIN_TARGET), rootfd));
	CHECK(is_same_dir(openat(fd, "/", OPEN_PLAIN_TARGET), top));
	(void)close(top);
	(void)close(fd);
}

static void a_console_is_not_created_through_a_link(void)
{
	CHECK(symlinkat("made", rootfd, "console") == 0);
	CHECK(openat(rootfd, "console", O_CLOEXEC | O_CREAT | O_WRONLY, 0700) < 0 && errno == ELOOP);
	CHECK(faccessat(rootfd, "made", F_OK, 0) < 0);
}

/* In a child with FD as its standard input: 0 when it has the owner WANTED afterwards. */
static int owner_after(int fd, uid_t wanted)
{
	struct stat st;
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(dup2(fd, 0) < 0 || fchown(0, 77, 77) < 0 || fstat(0, &st) < 0 || st.st_uid != wanted);
	return pid < 0 || waitpid(pid, &status, 0) != pid ? -1 : status;
}

static void only_a_pipe_without_a_name_is_given_away(void)
{
	int ends[2], fd;

	if (geteuid() != 0) {
		printf("# only root can give a file away\n");
		return;
	}
	fd = openat(rootfd, "file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && owner_after(fd, 0) == 0 && close(fd) == 0);
	CHECK(mkfifoat(rootfd, "fifo", 0600) == 0);
	fd = openat(rootfd, "fifo", O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && owner_after(fd, 0) == 0 && close(fd) == 0);
	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	CHECK(owner_after(ends[0], 77) == 0);
	CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
	/* Other descriptors are not stdio: the call is the kernel's. */
	fd = openat(rootfd, "other", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd > 2 && fchown(fd, 77, 77) == 0);
	{
		struct stat st;

		CHECK(fstat(fd, &st) == 0 && st.st_uid == 77 && close(fd) == 0);
	}
}

static void a_directory_that_cannot_be_named_is_left(void)
{
	char path[64], cwd[4096];
	int fd;

	CHECK(chdir(tree) == 0);
	fd = (int)syscall(SYS_open_tree, AT_FDCWD, tree, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (fd < 0) {
		printf("# open_tree needs CAP_SYS_ADMIN\n");
		return;
	}
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK(chdir(path) < 0 && errno == EPERM);
	CHECK(getcwd(cwd, sizeof(cwd)) && !strcmp(cwd, "/"));
	CHECK(close(fd) == 0);
	/* A removed directory has no name either. */
	CHECK(mkdirat(rootfd, "gone", 0755) == 0);
	fd = openat(rootfd, "gone", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0 && unlinkat(rootfd, "gone", AT_REMOVEDIR) == 0);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK(chdir(path) < 0);
	CHECK(close(fd) == 0);
}

static int join_process(struct libcrun_container_s *container)
{
	struct libcrun_context_s *context = container->context;
	struct libcrun_container_status_s *status = NULL;
	int *terminal_fd = NULL, detach = 0;
	const char *cgroup = NULL;
	void *process = NULL;
	libcrun_error_t *err = NULL;
	pid_t pid = 1;

	(void)context;
	(void)process;
	return __wrap_libcrun_join_process(JOIN_ARGUMENTS);
}

/* libcrun's checksum of a filter joins names without a separator. */
static void PLAT_2_libcrun_keeps_no_compiled_filter(void)
{
	struct libcrun_seccomp_gen_ctx_s ctx = { .options = 1 };
	int fd;

	CHECK(__wrap_libcrun_open_seccomp_bpf(&ctx, &fd, NULL) == 0 && options_of_filter == 3);
}

/* In a child: all directories above the preserved ones are closed, files are not. */
static bool is_closed(int type, unsigned int preserved, bool join)
{
	struct libcrun_context_s context = { .preserve_fds = (int)preserved };
	struct libcrun_container_s container = { .context = &context };
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		watched = openat(rootfd, ".", O_PATH | type | O_CLOEXEC);
		if (type == 0)
			watched = openat(rootfd, "file", O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
		watched = fcntl(watched, F_DUPFD_CLOEXEC, 50);
		if (join ? join_process(&container)
			 : __wrap_libcrun_do_pivot_root(&container, false, NULL, NULL))
			_exit(2);
		_exit(watched_is_open);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void directories_are_closed_before_a_container_is_entered(void)
{
	for (int join = 0; join < 2; join++) {
		CHECK(is_closed(O_DIRECTORY, 0, join));
		CHECK(!is_closed(0, 0, join));
		CHECK(!is_closed(O_DIRECTORY, 100, join));
	}
}

/* In a child: descriptors 3 to 40 are open but for MISSING. */
static int confine_with(int missing)
{
	int leaked, ours, r;

	for (int fd = 3; fd <= 40; fd++)
		if (dup2(1, fd) != fd)
			return -EBADF;
	leaked = dup2(1, 60);
	ours = fcntl(1, F_DUPFD_CLOEXEC, 61);
	if (missing)
		(void)close(missing);
	r = confine_descriptors(41, NULL);
	if (r == 0 && (fcntl(leaked, F_GETFD) >= 0 || fcntl(ours, F_GETFD) < 0 || fcntl(40, F_GETFD) < 0))
		return 1;
	return r;
}

static bool confine_gives(int missing, int expected)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(confine_with(missing) != expected);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void leaked_descriptors_are_closed(void)
{
	CHECK(confine_gives(0, 0));
}

static void a_descriptor_that_is_not_open_is_not_passed_on(void)
{
	CHECK(confine_gives(20, -EBADF));
	CHECK(confine_gives(40, -EBADF));
}

static void a_directory_is_no_stdio(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(dup2(rootfd, 0) < 0 || confine_descriptors(3, NULL) != -EISDIR);
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

static int hook(const char *program, const char *arg, char *input, size_t input_len, int timeout)
{
	char *path = (char *)program, *args[] = { path, (char *)"-c", (char *)arg, NULL };
	char *envp[] = { (char *)"PATH=/usr/bin:/bin", NULL };
	const char *cwd = "/";
	const bool cwd_is_optional = false;
	const int out_fd = -1, err_fd = -1;
	libcrun_error_t *err = NULL;

	(void)cwd_is_optional;
	return run_process_with_stdin_timeout_envp(HOOK_ARGUMENTS);
}

static void a_hook_need_not_read_its_input(void)
{
	static char input[200000];
	struct sigaction action;

	CHECK(hook("/bin/sh", "exit 0", input, sizeof(input), 0) == 0);
	CHECK(hook("/bin/sh", "exit 7", input, sizeof(input), 0) == 7);
	CHECK(hook("/bin/sh", "exec <&-; exit 3", input, sizeof(input), 10) == 3);
	CHECK(hook("/bin/sh", "kill -KILL $$", input, 10, 0) == 128 + SIGKILL);
	CHECK(hook("/bin/sh", "test $(wc -c) = 200000", input, sizeof(input), 10) == 0);
	CHECK(hook("/nonexistent", "", input, 10, 0) == 1);
	/* The process that may become the payload has its own SIGPIPE back. */
	CHECK(sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
}

static void a_hook_that_neither_reads_nor_exits_is_ended(void)
{
	static char input[200000];

	CHECK(hook("/bin/sh", "exec sleep 100", input, sizeof(input), 1) < 0);
	CHECK(hook("/bin/sh", "exec sleep 100", input, 10, 1) < 0);
}

static void a_root_is_made(void)
{
	CHECK(mkdtemp(tree));
	rootfd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(rootfd >= 0);
}

static void the_root_is_removed(void)
{
	int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(tmp >= 0 && path_remove_tree(tmp, tree + strlen("/tmp/"), NULL) == 0);
	(void)close(tmp);
}

TAP_MAIN(T(PLAT_2_libcrun_keeps_no_compiled_filter), T(a_root_is_made),
	 T(a_mount_is_not_led_to_a_reserved_directory), T(a_name_of_the_image_is_not_followed),
	 T(PLAT_2_only_a_creation_looks_up_targets), T(a_console_is_not_created_through_a_link),
	 T(only_a_pipe_without_a_name_is_given_away), T(a_directory_that_cannot_be_named_is_left),
	 T(directories_are_closed_before_a_container_is_entered), T(leaked_descriptors_are_closed),
	 T(a_descriptor_that_is_not_open_is_not_passed_on), T(a_directory_is_no_stdio),
	 T(a_hook_need_not_read_its_input), T(a_hook_that_neither_reads_nor_exits_is_ended),
	 T(the_root_is_removed))
