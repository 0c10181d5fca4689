/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/git-link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "tap.h"

struct place {
	char path[sizeof("/tmp/custody-test-git-link.XXXXXX")];
	int fd;
};

static void place_done(struct place *p)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)fd_close(p->fd);
	(void)!path_remove_tree(tmp, p->path + strlen("/tmp/"), NULL);
}

static bool put(const struct place *p, const char *name, const char *text)
{
	_cleanup_close_ int fd = openat(p->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	return fd >= 0 && fd_write_all(fd, text, strlen(text), NULL) == 0;
}

static bool make_repository(const struct place *p, const char *name)
{
	char path[128];
	static const char *const parts[] = { "", "/objects", "/refs" };

	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof(path), "%s%s", name, parts[i]);
		if (mkdirat(p->fd, path, 0755) < 0)
			return false;
	}
	(void)snprintf(path, sizeof(path), "%s/HEAD", name);
	return put(p, path, "ref: refs/heads/x\n");
}

/* main.git with worktrees/w, and w with its file .git; sub, a submodule of main.git/modules/s. */
static bool place_make(struct place *p)
{
	char text[128];

	memcpy(p->path, "/tmp/custody-test-git-link.XXXXXX", sizeof(p->path));
	if (!mkdtemp(p->path))
		return false;
	p->fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)snprintf(text, sizeof(text), "%s/w/.git\n", p->path);
	return p->fd >= 0 && make_repository(p, "main.git") && mkdirat(p->fd, "w", 0755) == 0 &&
	       mkdirat(p->fd, "sub", 0755) == 0 && mkdirat(p->fd, "main.git/worktrees", 0755) == 0 &&
	       mkdirat(p->fd, "main.git/worktrees/w", 0755) == 0 &&
	       mkdirat(p->fd, "main.git/modules", 0755) == 0 && make_repository(p, "main.git/modules/s") &&
	       put(p, "w/.git", "gitdir: ../main.git/worktrees/w\n") &&
	       put(p, "main.git/worktrees/w/HEAD", "x\n") && put(p, "main.git/worktrees/w/gitdir", text) &&
	       put(p, "main.git/worktrees/w/commondir", "../..\n") &&
	       put(p, "main.git/modules/s/config", "[core]\n\tbare = false\n\tworktree = ../../../sub\n");
}

#define WITH_PLACE                                               \
	_cleanup_(place_done) struct place p = { .fd = -EBADF }; \
	_cleanup_fault_ struct fault f = { 0 };                  \
	_cleanup_git_link_ struct git_link g = { 0 };            \
	CHECK(place_make(&p))

static int find(const struct place *p, const char *dir, const char *path, uid_t owner, struct git_link *ret,
		struct fault *f)
{
	_cleanup_close_ int top = openat(p->fd, dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st = { 0 };

	git_link_done(ret);
	(void)!fstatat(top, ".git", &st, AT_SYMLINK_NOFOLLOW);
	return git_link_find(top, st.st_ino, path, owner, ret, f);
}

static bool says(const struct fault *f, const char *text)
{
	if (strstr(fault_text(f), text))
		return true;
	printf("# '%s' lacks '%s'\n", fault_text(f), text);
	return false;
}

#define LINKED "../main.git/worktrees/w"
#define MODULE "../main.git/modules/s"
#define REFUSES(dir, path, text) (find(&p, dir, path, geteuid(), &g, &f) < 0 && says(&f, text))

static void a_linked_worktree_has_the_main_repository(void)
{
	WITH_PLACE;
	char want[128];

	(void)snprintf(want, sizeof(want), "%s/main.git", p.path);
	CHECK(find(&p, "w", LINKED, geteuid(), &g, &f) == 0);
	CHECK(str_eq(g.repository, want) && str_eq(g.own, "worktrees/w") && g.inode);
	/* As newer versions of git write it. */
	CHECK(put(&p, "main.git/worktrees/w/gitdir", "../../../w/.git\n"));
	CHECK(find(&p, "w", LINKED, geteuid(), &g, &f) == 0);
}

static void a_submodule_has_its_own(void)
{
	WITH_PLACE;
	char want[128];

	(void)snprintf(want, sizeof(want), "%s/main.git/modules/s", p.path);
	CHECK(find(&p, "sub", MODULE, geteuid(), &g, &f) == 0);
	CHECK(str_eq(g.repository, want) && !g.own);
	CHECK(put(&p, "main.git/modules/s/config",
		  "[core]\nworktree=/etc\n[ other ]\nworktree = ../../../sub\n"));
	CHECK(REFUSES("sub", MODULE, "'core.worktree' does not point back here"));
	/* The last one counts, as for git; a name that only begins like it does not. */
	CHECK(put(&p, "main.git/modules/s/config",
		  "[CORE]\r\n worktree = /etc\r\n WorkTree = ../../../sub \r\n worktrees = /etc\r\n"));
	CHECK(find(&p, "sub", MODULE, geteuid(), &g, &f) == 0);
	CHECK(put(&p, "main.git/modules/s/config", "[core]\nworktree = \"../../../sub\"\n"));
	CHECK(REFUSES("sub", MODULE, "does not point back"));
	CHECK(unlinkat(p.fd, "main.git/modules/s/config", 0) == 0 && REFUSES("sub", MODULE, "point back"));
}

static void other_places_are_refused_with_the_reason(void)
{
	WITH_PLACE;
	CHECK(REFUSES("w", "/nowhere", "does not exist"));
	CHECK(REFUSES("w", "../main.git/HEAD", "is not a directory"));
	CHECK(REFUSES("w", "../w", "not a git directory"));
	CHECK(REFUSES("w", "../main.git", "'core.worktree' does not point back here"));
	CHECK(symlinkat("main.git", p.fd, "link") == 0);
	CHECK(REFUSES("w", "../link/worktrees/w", "symbolic link") &&
	      REFUSES("w", "../link", "not a directory"));
	CHECK(REFUSES("w", "/proc/self/cwd", "symbolic link"));
	/* Of another directory: a copy of a linked worktree. */
	CHECK(put(&p, "sub/.git", "gitdir: " LINKED "\n"));
	CHECK(REFUSES("sub", LINKED, "'gitdir' does not point back here"));
	CHECK(find(&p, "w", LINKED, geteuid() + 1, &g, &f) == -EPERM && says(&f, "belongs to uid"));
}

static void a_damaged_part_is_refused(void)
{
	WITH_PLACE;
	const char *dir = "main.git/worktrees/w/gitdir", *common = "main.git/worktrees/w/commondir";

	CHECK(unlinkat(p.fd, dir, 0) == 0 && REFUSES("w", LINKED, "'gitdir' does not point back"));
	CHECK(mkfifoat(p.fd, dir, 0644) == 0 && REFUSES("w", LINKED, "no small text file"));
	CHECK(unlinkat(p.fd, dir, 0) == 0 && symlinkat("HEAD", p.fd, dir) == 0);
	CHECK(REFUSES("w", LINKED, "no small text file"));
	CHECK(unlinkat(p.fd, dir, 0) == 0 && put(&p, dir, "../../../w/.git\n"));
	CHECK(find(&p, "w", LINKED, geteuid(), &g, &f) == 0);
	CHECK(put(&p, common, "../../modules/s\n") && REFUSES("w", LINKED, "another repository's"));
	CHECK(put(&p, common, "/nowhere") && REFUSES("w", LINKED, "does not exist"));
	CHECK(put(&p, common, ".") && REFUSES("w", LINKED, "not a git directory"));
	CHECK(unlinkat(p.fd, common, 0) == 0 && mkdirat(p.fd, common, 0755) == 0);
	CHECK(REFUSES("w", LINKED, "no small text file"));
	CHECK(unlinkat(p.fd, common, AT_REMOVEDIR) == 0 && put(&p, common, "../.."));
	CHECK(renameat(p.fd, "main.git/refs", p.fd, "main.git/away") == 0);
	CHECK(REFUSES("w", LINKED, "not a git directory"));
}

TAP_MAIN(T(a_linked_worktree_has_the_main_repository), T(a_submodule_has_its_own),
	 T(other_places_are_refused_with_the_reason), T(a_damaged_part_is_refused))
