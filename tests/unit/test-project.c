/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "state/caller-homes.h"
#include "state/project.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "tap.h"

struct place {
	char path[sizeof("/tmp/custody-test-project.XXXXXX")];
};

static void place_done(struct place *p)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (chdir("/") == 0 && p->path[0])
		(void)!path_remove_tree(tmp, p->path + strlen("/tmp/"), NULL);
}

static bool make(const char *path)
{
	_cleanup_close_ int fd = path_make_dirs(AT_FDCWD, path, 0755, NULL);

	return fd >= 0;
}

static const char *at(const struct place *p, const char *rest)
{
	static char path[8][256];
	static unsigned int n;

	n = (n + 1) % 8;
	(void)snprintf(path[n], sizeof(path[n]), "%s%s%s", p->path, *rest ? "/" : "", rest);
	return path[n];
}

static bool make_file(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	return fd >= 0 && fd_write_all(fd, text, strlen(text), NULL) == 0;
}

static bool make_repository(const struct place *p, const char *dir)
{
	char git[128];

	(void)snprintf(git, sizeof(git), "%s/.git/objects", dir);
	if (!make(at(p, git)))
		return false;
	(void)snprintf(git, sizeof(git), "%s/.git/refs", dir);
	if (!make(at(p, git)))
		return false;
	(void)snprintf(git, sizeof(git), "%s/.git/HEAD", dir);
	return make_file(at(p, git), "ref: refs/heads/main\n");
}

/* PLACE with top/.git and top/a/b, which is the current directory. */
#define WITH_PLACE                                    \
	_cleanup_(place_done) struct place p = { 0 }; \
	_cleanup_fault_ struct fault f = { 0 };       \
	_cleanup_project_ struct project got = { 0 }; \
	CHECK(place_make(&p))

static bool place_make(struct place *p)
{
	memcpy(p->path, "/tmp/custody-test-project.XXXXXX", sizeof(p->path));
	return mkdtemp(p->path) && make(at(p, "top/a/b")) && make(at(p, "home")) &&
	       make_repository(p, "top") && chdir(at(p, "top/a/b")) == 0;
}

static bool is(const struct project *got, const char *top, const char *below)
{
	if (got->top && str_eq(got->top, top) && str_eq(got->below, below))
		return true;
	printf("# '%s' '%s'\n", got->top ? got->top : "", got->below ? got->below : "");
	return false;
}

#define HOMES(path) ((char *[]){ (char *)(path), NULL })

static bool finds(const struct place *p, const char *home, const char *top, const char *below)
{
	_cleanup_project_ struct project got = { 0 };
	_cleanup_fault_ struct fault f = { 0 };

	if (project_find(HOMES(home), &got, &f) == 0)
		return is(&got, at(p, top), below);
	printf("# %s\n", fault_text(&f));
	return false;
}

static bool refuses(const struct place *p, const char *words)
{
	_cleanup_project_ struct project got = { 0 };
	_cleanup_fault_ struct fault f = { 0 };

	if (project_find(HOMES(at(p, "home")), &got, &f) != -EPERM || got.top)
		return false;
	printf("# %s\n", fault_text(&f));
	return strstr(fault_text(&f), words) && strstr(fault_text(&f), "--here");
}

static void the_top_level_is_found_from_below(void)
{
	WITH_PLACE;
	CHECK(finds(&p, at(&p, "home"), "top", "a/b"));
	CHECK(finds(&p, NULL, "top", "a/b"));
	CHECK(chdir("..") == 0 && finds(&p, at(&p, "home"), "top", "a"));
	CHECK(chdir("..") == 0 && finds(&p, at(&p, "home"), "top", ""));
	CHECK(chdir(".git/objects") == 0 && finds(&p, at(&p, "home"), "top", ".git/objects"));
	CHECK(make_repository(&p, "top/a") && chdir(at(&p, "top/a/b")) == 0);
	CHECK(finds(&p, at(&p, "home"), "top/a", "b"));
}

static void without_a_repository_it_is_the_current_directory(void)
{
	WITH_PLACE;
	CHECK(rename(at(&p, "top/.git"), at(&p, "top/git")) == 0);
	CHECK(finds(&p, at(&p, "home"), "top/a/b", ""));
	CHECK(chdir("/") == 0 && project_find(NULL, &got, &f) == 0 && is(&got, "/", ""));
}

static void a_home_or_a_directory_above_it_is_never_taken(void)
{
	WITH_PLACE;
	CHECK(finds(&p, at(&p, "top"), "top/a/b", ""));
	CHECK(finds(&p, at(&p, "top/a"), "top/a/b", ""));
	/* Beside the home, but the repository is above both. */
	CHECK(make(at(&p, "top/home")) && finds(&p, at(&p, "top/home"), "top/a/b", ""));
	CHECK(chdir(at(&p, "top")) == 0 && finds(&p, at(&p, "top"), "top", ""));
}

static void GOV_1_a_variable_adds_a_home_and_removes_none(void)
{
	WITH_PLACE;
	static const char *const not_taken[] = { "", "top", "./top", "/nonexistent/custody" };
	char **homes;

	CHECK(symlink("top", at(&p, "link")) == 0 && setenv("SUDO_UID", "0", 1) == 0);
	CHECK(setenv("HOME", at(&p, "link"), 1) == 0 && (homes = caller_homes_find(at(&p, "home"))));
	CHECK(strv_has(homes, at(&p, "home")) && strv_has(homes, at(&p, "top")) && strv_has(homes, "/root") &&
	      strv_len(homes) == 3);
	CHECK(chdir(at(&p, "top/a/b")) == 0 && project_find(homes, &got, &f) == 0 &&
	      is(&got, at(&p, "top/a/b"), ""));
	project_done(&got);
	strv_free(homes);
	/* Trust: a file of the tree above stays one. */
	CHECK(project_find_any(at(&p, "home"), &got, &f) == 0 && is(&got, at(&p, "top"), "a/b"));
	project_done(&got);
	CHECK(setenv("SUDO_UID", "4294967296", 1) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(not_taken); i++) {
		CHECK(setenv("HOME", not_taken[i], 1) == 0 && (homes = caller_homes_find(at(&p, "home"))));
		CHECK(strv_len(homes) == 1 && str_eq(homes[0], at(&p, "home")));
		strv_free(homes);
	}
	CHECK(unsetenv("HOME") == 0 && unsetenv("SUDO_UID") == 0 && (homes = caller_homes_find(NULL)));
	CHECK(!homes[0]);
	strv_free(homes);
}

static void homes_are_known_by_their_names(void)
{
	CHECK(project_is_home("/root") && project_is_home("/home") && project_is_home("/home/me"));
	CHECK(!project_is_home("/home/me/p") && !project_is_home("/root/p") &&
	      !project_is_home("/homes/me") && !project_is_home("/srv"));
}

static void another_owner_ends_the_walk(void)
{
	WITH_PLACE;
	if (geteuid() != 0)
		return; /* only root changes owners and mounts */
	/* The repository's directory, one between, the .git. */
	CHECK(chown(at(&p, "top"), 4711, 4711) == 0 && finds(&p, NULL, "top/a/b", ""));
	CHECK(chown(at(&p, "top"), 0, 0) == 0 && finds(&p, NULL, "top", "a/b"));
	CHECK(chown(at(&p, "top/a"), 4711, 4711) == 0 && finds(&p, NULL, "top/a/b", ""));
	CHECK(chown(at(&p, "top/a"), 0, 0) == 0 && chown(at(&p, "top/.git"), 4711, 4711) == 0);
	CHECK(finds(&p, NULL, "top/a/b", ""));
	/* Root in a user's tree. */
	CHECK(chown(at(&p, "top"), 4711, 4711) == 0 && chown(at(&p, "top/a"), 4711, 4711) == 0 &&
	      chown(at(&p, "top/a/b"), 4711, 4711) == 0);
	CHECK(finds(&p, NULL, "top", "a/b"));
	/* A user in another user's tree. */
	CHECK(chmod(p.path, 0755) == 0 && seteuid(4712) == 0);
	CHECK(finds(&p, NULL, "top/a/b", ""));
	CHECK(seteuid(0) == 0);
}

static void another_file_system_ends_the_walk(void)
{
	WITH_PLACE;
	pid_t pid;
	int status;

	if (geteuid() != 0)
		return; /* only root changes owners and mounts */
	pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("tmpfs", at(&p, "top/a"), "tmpfs", 0, NULL) < 0 || !make(at(&p, "top/a/b")) ||
		    chdir(at(&p, "top/a/b")) < 0)
			_exit(2);
		_exit(finds(&p, NULL, "top/a/b", "") ? 0 : 1);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

static void a_git_that_is_no_directory_is_refused_by_name(void)
{
	WITH_PLACE;
	char huge[256];

	(void)snprintf(huge, sizeof(huge), "%s", at(&p, "top/a/.git"));
	CHECK(mkfifo(huge, 0644) == 0 && refuses(&p, "top/a/.git' is a FIFO"));
	CHECK(unlink(huge) == 0 && symlink("../.git", huge) == 0 && refuses(&p, "is a symbolic link"));
	CHECK(unlink(huge) == 0 && symlink(".git", huge) == 0 && refuses(&p, "is a symbolic link"));
	CHECK(unlink(huge) == 0 && make_file(huge, "gitdir: /elsewhere/.git/worktrees/x\n"));
	CHECK(refuses(&p, "names the repository '/elsewhere/.git/worktrees/x'"));
	CHECK(make_file(huge, "gitdir: ../../.git/modules/x"));
	CHECK(refuses(&p, "names the repository '../../.git/modules/x'"));
	CHECK(make_file(huge, "no\n") && refuses(&p, "is a file, not a directory"));
	CHECK(make_file(huge, "") && refuses(&p, "is a file, not a directory"));
	CHECK(make_file(huge, "gitdir: x") && truncate(huge, (off_t)1 << 30) == 0);
	CHECK(refuses(&p, "is a file, not a directory"));
	CHECK(chmod(huge, 0) == 0 && refuses(&p, "is a file, not a directory"));
	CHECK(project_find_any(at(&p, "home"), &got, &f) == 0 && is(&got, at(&p, "top/a"), "b"));
}

static void a_directory_that_git_does_not_recognize_is_passed(void)
{
	WITH_PLACE;
	CHECK(make(at(&p, "top/a/.git")) && finds(&p, NULL, "top", "a/b"));
	CHECK(make(at(&p, "top/a/.git/objects")) && make(at(&p, "top/a/.git/refs")));
	CHECK(finds(&p, NULL, "top", "a/b"));
	CHECK(mkfifo(at(&p, "top/a/.git/HEAD"), 0644) == 0 && finds(&p, NULL, "top", "a/b"));
	CHECK(unlink(at(&p, "top/a/.git/HEAD")) == 0 && make_file(at(&p, "top/a/.git/HEAD"), "x"));
	CHECK(finds(&p, NULL, "top/a", "b"));
	CHECK(rmdir(at(&p, "top/a/.git/refs")) == 0 && finds(&p, NULL, "top", "a/b"));
	CHECK(project_find_any(NULL, &got, &f) == 0 && is(&got, at(&p, "top/a"), "b"));
}

static void a_walk_has_an_end(void)
{
	WITH_PLACE;
	for (int i = 0; i < 300; i++)
		CHECK(mkdir("d", 0755) == 0 && chdir("d") == 0);
	CHECK(project_find(NULL, &got, &f) == 0 && str_eq(got.below, "") && !str_eq(got.top, at(&p, "top")));
}

static void a_removed_directory_is_an_error_with_its_fix(void)
{
	WITH_PLACE;
	CHECK(rmdir(at(&p, "top/a/b")) == 0);
	CHECK(project_find(NULL, &got, &f) == -ENOENT && !got.top);
	CHECK(strstr(fault_text(&f), "cd to an existing one"));
}

TAP_MAIN(T(the_top_level_is_found_from_below), T(without_a_repository_it_is_the_current_directory),
	 T(a_home_or_a_directory_above_it_is_never_taken), T(GOV_1_a_variable_adds_a_home_and_removes_none),
	 T(homes_are_known_by_their_names), T(another_owner_ends_the_walk),
	 T(another_file_system_ends_the_walk), T(a_git_that_is_no_directory_is_refused_by_name),
	 T(a_directory_that_git_does_not_recognize_is_passed), T(a_walk_has_an_end),
	 T(a_removed_directory_is_an_error_with_its_fix))
