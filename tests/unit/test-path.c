/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "openat2.h"
#include "tap.h"

#define DEEP 10000
#define TMP "/tmp/test-path-XXXXXX"

static char root_path[] = TMP;

/* The directory all tests work in; a name that a test made is gone or harmless in the next one. */
static int open_root(void)
{
	static int root = -1;

	if (root < 0 && mkdtemp(root_path))
		root = open(root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return root;
}

static bool make_file(int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd >= 0 && fd_write_all(fd, name, strlen(name), NULL) == 0;
}

static bool make_dirs(int dirfd, const char *path)
{
	_cleanup_close_ int fd = path_make_dirs(dirfd, path, 0700, NULL);

	return fd >= 0;
}

static bool exists(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Yes, no, or cannot be tried here, from a process of its own. */
enum answer { ANSWER_NO, ANSWER_YES, ANSWER_CANNOT };

static enum answer ask_child(enum answer (*fn)(void))
{
	pid_t pid;
	int status;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit((int)fn());
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return ANSWER_NO;
	return WEXITSTATUS(status) == ANSWER_CANNOT ? ANSWER_CANNOT : WEXITSTATUS(status) == ANSWER_YES;
}

static bool normal_is(const char *path, const char *wanted)
{
	_cleanup_free_ char *normal = NULL;

	return path_normalize(path, &normal, NULL) == 0 && str_eq(normal, wanted);
}

static void normal_paths_have_one_form(void)
{
	CHECK(normal_is("/", "/") && normal_is("///", "/") && normal_is("/.", "/") && normal_is("/./", "/"));
	CHECK(normal_is("/a/b", "/a/b") && normal_is("//a///b//", "/a/b") && normal_is("/a/./b/.", "/a/b"));
	CHECK(normal_is("/...", "/...") && normal_is("/..a/b..", "/..a/b..") && normal_is("/.a", "/.a"));
}

static void relative_and_upward_paths_are_refused(void)
{
	static const char *const bad[] = { "", "a", "./a", "..", "/..", "/a/../b", "/a/..", "/../", NULL };
	_cleanup_fault_ struct fault f = { 0 };

	for (int i = 0; bad[i]; i++) {
		char *normal = NULL;

		CHECK(path_normalize(bad[i], &normal, &f) == -EINVAL && !normal &&
		      strstr(fault_text(&f), bad[i]));
	}
}

static void below_is_by_whole_names(void)
{
	CHECK(path_is_below("/a", "/a") && path_is_below("/a/b", "/a") && path_is_below("/a", "/"));
	CHECK(path_is_below("/", "/"));
	CHECK(!path_is_below("/ab", "/a") && !path_is_below("/", "/a") && !path_is_below("/b/a", "/a"));
}

static void join_puts_one_slash(void)
{
	_cleanup_free_ char *a = path_join("/a", "b"), *root = path_join("/", "b"),
			    *slash = path_join("a/", "b");

	CHECK(str_eq(a, "/a/b") && str_eq(root, "/b") && str_eq(slash, "a/b"));
}

/* open/: dir/file, in -> dir/file, out -> /etc/passwd, up -> .., loop -> loop, absolute -> /dir/file */
static int open_tree_root(void)
{
	int root = open_root(), fd;

	(void)mkdirat(root, "open", 0700);
	fd = openat(root, "open", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (exists(fd, "dir"))
		return fd;
	if (mkdirat(fd, "dir", 0700) < 0 || !make_file(fd, "dir/file") ||
	    symlinkat("dir/file", fd, "in") < 0 || symlinkat("/etc/passwd", fd, "out") < 0 ||
	    symlinkat("..", fd, "up") < 0 || symlinkat("loop", fd, "loop") < 0 ||
	    symlinkat("/dir/file", fd, "absolute") < 0 || symlinkat("dir", fd, "dirlink") < 0)
		return -1;
	return fd;
}

static int beneath(const char *path, int flags)
{
	_cleanup_close_ int root = open_tree_root(), fd = -EBADF;
	_cleanup_fault_ struct fault f = { 0 };

	fd = path_open_beneath(root, path, flags, 0600, &f);
	if (fd < 0)
		return f.code == -fd && strstr(fault_text(&f), path) ? fd : -EPROTO;
	return fcntl(fd, F_GETFD) == FD_CLOEXEC ? 0 : -EPROTO;
}

static void beneath_never_leaves_the_root(void)
{
	if (!has_openat2())
		return;
	CHECK(beneath("dir/file", O_RDONLY) == 0 && beneath("in", O_RDONLY) == 0 &&
	      beneath(".", O_RDONLY) == 0);
	CHECK(beneath("dir/../dir/file", O_RDONLY) == 0 &&
	      beneath("dir/new", O_WRONLY | O_CREAT | O_EXCL) == 0);
	CHECK(beneath("dir/new", O_WRONLY | O_CREAT | O_EXCL) == -EEXIST);
	CHECK(beneath("..", O_RDONLY) == -EXDEV && beneath("dir/../../x", O_RDONLY) == -EXDEV);
	CHECK(beneath("/etc/passwd", O_RDONLY) == -EXDEV && beneath("out", O_RDONLY) == -EXDEV);
	CHECK(beneath("up", O_RDONLY) == -EXDEV && beneath("up/open/dir/file", O_RDONLY) == -EXDEV);
	CHECK(beneath("absolute", O_RDONLY) == -EXDEV && beneath("loop", O_RDONLY) == -ELOOP);
	CHECK(beneath("in", O_RDONLY | O_NOFOLLOW) == -ELOOP && beneath("none", O_RDONLY) == -ENOENT);
	CHECK(beneath("dir/file/x", O_RDONLY) == -ENOTDIR && beneath("", O_RDONLY) == -ENOENT);
}

static void beneath_refuses_magic_links(void)
{
	_cleanup_close_ int proc = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(proc >= 0);
	CHECK(path_open_beneath(proc, "root/etc", O_RDONLY, 0, NULL) < 0);
	CHECK(path_open_beneath(proc, "exe", O_RDONLY, 0, NULL) < 0);
}

static int in_root(const char *path, int flags)
{
	_cleanup_close_ int root = open_tree_root(), fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	size_t len;

	fd = path_open_in_root(root, path, flags, 0600, NULL);
	if (fd < 0)
		return fd;
	/* The file of the tree, not one of the host. */
	return fd_read_all(fd, 100, &text, &len, NULL) == 0 && str_eq(text, "dir/file") ? 0 : -EPROTO;
}

static void in_root_resolves_as_if_chrooted(void)
{
	if (!has_openat2())
		return;
	CHECK(in_root("/dir/file", O_RDONLY) == 0 && in_root("absolute", O_RDONLY) == 0);
	CHECK(in_root("../../../dir/file", O_RDONLY) == 0 && in_root("up/dir/file", O_RDONLY) == 0);
	CHECK(in_root("out", O_RDONLY) == -ENOENT && in_root("/etc/passwd", O_RDONLY) == -ENOENT);
}

static bool block_openat2(int error)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	bool ok = ctx &&
		  seccomp_rule_add(ctx, SCMP_ACT_ERRNO((unsigned int)error), SCMP_SYS(openat2), 0) == 0 &&
		  seccomp_load(ctx) == 0;

	seccomp_release(ctx);
	return ok;
}

/* The walk is stricter than the kernel: no link and no "..". */
static bool walk_holds(void)
{
	return beneath("dir/file", O_RDONLY) == 0 && beneath("./dir//file", O_RDONLY) == 0 &&
	       beneath("dir/", O_RDONLY) == 0 && beneath("dir//", O_RDONLY) == 0 &&
	       beneath(".", O_RDONLY) == 0 && beneath("dir/file/", O_RDONLY) == -ENOTDIR &&
	       beneath("dir/x/", O_WRONLY | O_CREAT) == -EISDIR &&
	       beneath("dir/walked", O_WRONLY | O_CREAT) == 0 && beneath("none", O_RDONLY) == -ENOENT &&
	       beneath("", O_RDONLY) == -ENOENT && beneath("dir/file/x", O_RDONLY) == -ENOTDIR &&
	       beneath("..", O_RDONLY) == -EXDEV && beneath("dir/..", O_RDONLY) == -EXDEV &&
	       beneath("dir/../dir/file", O_RDONLY) == -EXDEV && beneath("/etc/passwd", O_RDONLY) == -EXDEV &&
	       beneath("in", O_RDONLY) == -ELOOP && beneath("out", O_RDONLY) == -ELOOP &&
	       beneath("in", O_PATH) == -ELOOP && beneath("in", O_PATH | O_NOFOLLOW) == 0 &&
	       beneath("dirlink/file", O_RDONLY) == -ELOOP && beneath("dirlink/", O_RDONLY) < 0 &&
	       beneath("up/open/dir/file", O_RDONLY) == -ELOOP && in_root("dir/file", O_RDONLY) == -ENOSYS;
}

static enum answer walk_holds_without_openat2(void)
{
	return block_openat2(ENOSYS) ? walk_holds() : ANSWER_CANNOT;
}

static enum answer walk_holds_behind_a_filter(void)
{
	return block_openat2(EPERM) ? walk_holds() : ANSWER_CANNOT;
}

static void without_openat2_a_walk_answers(void)
{
	_cleanup_close_ int root = open_tree_root();

	CHECK(root >= 0 && ask_child(walk_holds_without_openat2) == ANSWER_YES);
	CHECK(exists(root, "dir/walked") && unlinkat(root, "dir/walked", 0) == 0);
	CHECK(ask_child(walk_holds_behind_a_filter) == ANSWER_YES);
	CHECK(exists(root, "dir/walked") && !exists(root, "dir/x"));
}

static void directories_are_made_on_the_way(void)
{
	int root = open_root();
	_cleanup_close_ int fd = -EBADF, again = -EBADF, same = -EBADF, absolute = -EBADF;
	_cleanup_free_ char *path = path_join(root_path, "made/a/z");
	mode_t mask = umask(022);
	struct stat st;

	fd = path_make_dirs(root, "made/a//b/./c/", 0750, NULL);
	CHECK(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC && !(fcntl(fd, F_GETFL) & O_PATH));
	CHECK(make_file(fd, "here") && exists(root, "made/a/b/c/here"));
	CHECK(fstatat(root, "made/a", &st, 0) == 0 && (st.st_mode & 07777) == 0750);
	again = path_make_dirs(root, "made/a/b/c", 0700, NULL);
	CHECK(again >= 0 && fstat(again, &st) == 0 && (st.st_mode & 07777) == 0750);
	same = path_make_dirs(root, ".", 0700, NULL);
	CHECK(same >= 0);
	absolute = path_make_dirs(AT_FDCWD, path, 0700, NULL);
	CHECK(absolute >= 0 && exists(root, "made/a/z"));
	(void)umask(mask);
}

static void directories_are_not_made_through_links(void)
{
	int root = open_root();
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(mkdirat(root, "victim", 0700) == 0 && symlinkat("victim", root, "lure") == 0 &&
	      make_file(root, "plain"));
	CHECK(path_make_dirs(root, "lure/x", 0700, &f) == -ELOOP && strstr(fault_text(&f), "'lure'"));
	CHECK(path_make_dirs(root, "lure", 0700, NULL) == -ELOOP && !exists(root, "victim/x"));
	CHECK(path_make_dirs(root, "plain/x", 0700, NULL) == -ENOTDIR);
	CHECK(path_make_dirs(root, "q/../x", 0700, NULL) == -EINVAL && !exists(root, "x"));
	CHECK(path_make_dirs(root, "/tmp", 0700, NULL) == -EINVAL);
}

static void trees_of_every_kind_are_removed(void)
{
	int root = open_root();

	CHECK(make_dirs(root, "tree/a/b/c"));
	CHECK(make_file(root, "tree/a/b/file") && mkfifoat(root, "tree/fifo", 0600) == 0);
	CHECK(mkdirat(root, "outside", 0700) == 0 && make_file(root, "outside/kept"));
	CHECK(symlinkat("../outside", root, "tree/link") == 0 && symlinkat("/", root, "tree/a/root") == 0);
	for (int i = 0; i < 300; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "tree/a/d%d", i);
		CHECK(mkdirat(root, name, 0700) == 0);
		(void)snprintf(name, sizeof(name), "tree/a/d%d/f", i);
		CHECK(make_file(root, name));
	}
	CHECK(path_remove_tree(root, "tree", NULL) == 0);
	CHECK(!exists(root, "tree") && exists(root, "outside/kept"));
}

static void a_name_may_be_a_link_a_file_or_nothing(void)
{
	int root = open_root();

	CHECK(symlinkat("outside", root, "link") == 0 && make_file(root, "file"));
	CHECK(path_remove_tree(root, "link", NULL) == 0 && path_remove_tree(root, "file", NULL) == 0);
	CHECK(path_remove_tree(root, "never", NULL) == 0);
	CHECK(!exists(root, "link") && !exists(root, "file") && exists(root, "outside/kept"));
	CHECK(path_remove_tree(root, "outside/kept", NULL) == -EINVAL &&
	      path_remove_tree(root, "..", NULL) == -EINVAL);
	CHECK(path_remove_tree(root, ".", NULL) == -EINVAL && path_remove_tree(root, "", NULL) == -EINVAL);
	CHECK(exists(root, "outside/kept"));
}

/* DEEP levels below NAME, with a file in each hundredth. */
static bool make_deep(int root, const char *name)
{
	_cleanup_close_ int fd = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; i < DEEP; i++) {
		int next;

		if (mkdirat(fd, i ? "d" : name, 0700) < 0)
			return false;
		next = openat(fd, i ? "d" : name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fd_close(fd);
		fd = next;
		if (fd < 0 || (i % 100 == 0 && !make_file(fd, "f")))
			return false;
	}
	return true;
}

static enum answer deep_goes_with_few_descriptors(void)
{
	struct rlimit few;
	_cleanup_fault_ struct fault f = { 0 };

	if (getrlimit(RLIMIT_NOFILE, &few) < 0)
		return ANSWER_CANNOT;
	few.rlim_cur = 48;
	if (setrlimit(RLIMIT_NOFILE, &few) < 0)
		return ANSWER_CANNOT;
	return path_remove_tree(open_root(), "deep", &f) == 0;
}

static void deep_trees_need_few_descriptors(void)
{
	int root = open_root();

	CHECK(make_deep(root, "deep"));
	CHECK(ask_child(deep_goes_with_few_descriptors) == ANSWER_YES);
	CHECK(!exists(root, "deep"));
}

/* Modes stop only processes without capabilities. */
static bool drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capset, &header, none) == 0;
}

static enum answer shut_trees_go(void)
{
	int root = open_root();
	_cleanup_close_ int fd = -EBADF;

	if (!drop_capabilities())
		return ANSWER_CANNOT;
	if (!make_dirs(root, "shut/work/work/x") || !make_file(root, "shut/work/f") ||
	    !make_dirs(root, "shut/noexec/y") || !make_file(root, "shut/noexec/f") ||
	    fchmodat(root, "shut/work/work", 0, 0) < 0 || fchmodat(root, "shut/work", 0500, 0) < 0 ||
	    fchmodat(root, "shut/noexec", 0600, 0) < 0 || fchmodat(root, "shut", 0, 0) < 0)
		return ANSWER_NO;
	/* Else this would prove nothing. */
	fd = openat(root, "shut", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		return ANSWER_CANNOT;
	return path_remove_tree(root, "shut", NULL) == 0 && !exists(root, "shut");
}

static enum answer parent_keeps_its_mode(void)
{
	int root = open_root();
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	if (!drop_capabilities())
		return ANSWER_CANNOT;
	if (!make_dirs(root, "parent/child/x") || fchmodat(root, "parent", 0500, 0) < 0)
		return ANSWER_NO;
	fd = openat(root, "parent", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return path_remove_tree(fd, "child", NULL) == -EACCES && fstat(fd, &st) == 0 &&
	       (st.st_mode & 07777) == 0500;
}

static void shut_directories_of_ours_are_opened(void)
{
	CHECK(ask_child(shut_trees_go) == ANSWER_YES);
}

static void the_callers_directory_stays_shut(void)
{
	CHECK(ask_child(parent_keeps_its_mode) == ANSWER_YES);
	CHECK(exists(open_root(), "parent/child"));
}

/* A namespace of its own, so that nothing of the machine changes. */
static bool own_mounts(void)
{
	return unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
	       mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool refuses_mounted(int root)
{
	_cleanup_fault_ struct fault f = { 0 };

	return path_remove_tree(root, "mounted", &f) == -EBUSY &&
	       str_eq(fault_text(&f), "remove 'mounted/a/point': it is a mount point: unmount it first");
}

static enum answer mounts_are_left_alone(void)
{
	_cleanup_free_ char *point = path_join(root_path, "mounted/a/point"),
			    *source = path_join(root_path, "outside");

	if (!own_mounts() || mount(source, point, "none", MS_BIND, NULL) < 0)
		return ANSWER_CANNOT;
	return refuses_mounted(open_root());
}

/*
 * The kernel refuses to remove a mount point of the caller's own namespace.  Through a descriptor from another one,
 * as of a container's root, only the check of the mount id protects mounted trees.
 */
static enum answer foreign_mounts_are_left_alone(const char *type, unsigned long flags)
{
	_cleanup_free_ char *point = path_join(root_path, "mounted/a/point"),
			    *source = path_join(root_path, "outside"), *inside = path_join(point, "inside");
	_cleanup_close_ int home = -EBADF, away = -EBADF, root = -EBADF;

	if (!own_mounts())
		return ANSWER_CANNOT;
	home = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (home < 0 || unshare(CLONE_NEWNS) < 0 || mount(source, point, type, flags, NULL) < 0)
		return ANSWER_CANNOT;
	/* Kept open: without it the namespace would end with our leaving it, and its mounts with it. */
	away = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	root = open(root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (away < 0 || !make_dirs(AT_FDCWD, inside) || setns(home, CLONE_NEWNS) < 0)
		return ANSWER_CANNOT;
	return refuses_mounted(root) && exists(root, "mounted/a/point/inside");
}

static enum answer foreign_bind_is_left_alone(void)
{
	return foreign_mounts_are_left_alone("none", MS_BIND);
}

static enum answer foreign_tmpfs_is_left_alone(void)
{
	return foreign_mounts_are_left_alone("tmpfs", 0);
}

/* Mounting may be forbidden where this runs. */
static bool not_refuted(enum answer (*fn)(void))
{
	enum answer answer = ask_child(fn);

	if (answer == ANSWER_CANNOT)
		printf("# no such mount in a namespace of our own here, not tried\n");
	return answer != ANSWER_NO;
}

static void mounts_are_not_crossed(void)
{
	int root = open_root();

	/* Something below the mount, else the kernel would just remove the point. */
	CHECK(make_dirs(root, "mounted/a/point/covered"));
	CHECK(not_refuted(mounts_are_left_alone) && not_refuted(foreign_bind_is_left_alone) &&
	      not_refuted(foreign_tmpfs_is_left_alone));
	CHECK(exists(root, "outside/kept") && exists(root, "mounted/a/point/covered"));
	CHECK(path_remove_tree(root, "mounted", NULL) == 0 && !exists(root, "mounted"));
}

static void names_that_cannot_be_removed_are_reported(void)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(path_remove_tree(proc, "version", &f) < 0);
	CHECK(str_starts(fault_text(&f), "remove 'version': "));
}

static void nothing_is_left_of_these_tests(void)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(path_remove_tree(tmp, root_path + strlen("/tmp/"), NULL) == 0);
	CHECK(access(root_path, F_OK) < 0);
}

TAP_MAIN(T(normal_paths_have_one_form), T(relative_and_upward_paths_are_refused), T(below_is_by_whole_names),
	 T(join_puts_one_slash), T(beneath_never_leaves_the_root), T(beneath_refuses_magic_links),
	 T(in_root_resolves_as_if_chrooted), T(without_openat2_a_walk_answers),
	 T(directories_are_made_on_the_way), T(directories_are_not_made_through_links),
	 T(trees_of_every_kind_are_removed), T(a_name_may_be_a_link_a_file_or_nothing),
	 T(deep_trees_need_few_descriptors), T(shut_directories_of_ours_are_opened),
	 T(the_callers_directory_stays_shut), T(mounts_are_not_crossed),
	 T(names_that_cannot_be_removed_are_reported), T(nothing_is_left_of_these_tests))
