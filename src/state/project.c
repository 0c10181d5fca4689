/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/project.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "state/git-link.h"

#define DEPTH_MAX 256 /* directories that are searched */
#define GITFILE_MAX 4096

struct climb {
	char *cwd;  /* as the kernel names it */
	size_t len; /* of the part of CWD that FD is */
	int fd;
	struct stat st; /* of FD */
	uid_t owner;
	char *const *homes;  /* resolved; NULL: not known */
	bool any;	     /* whatever .git is */
	struct git_link git; /* found at FD */
};

static void climb_done(struct climb *c)
{
	fd_close(c->fd);
	free(c->cwd);
	git_link_done(&c->git);
}

void project_done(struct project *p)
{
	free(p->top);
	free(p->below);
	git_link_done(&p->git);
	*p = (struct project){ 0 };
}

static int begin(struct climb *c, struct fault *f)
{
	c->cwd = getcwd(NULL, 0);
	if (!c->cwd || c->cwd[0] != '/')
		return fault_set(f, ENOENT, "the current directory was removed: cd to an existing one");
	c->len = strlen(c->cwd);
	c->fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->fd < 0 || fstat(c->fd, &c->st) < 0)
		return fault_errno(f, errno, "open the current directory");
	c->owner = c->st.st_uid;
	return 0;
}

static char *path_of(const struct climb *c)
{
	return strndup(c->cwd, c->len > 0 ? c->len : 1);
}

bool project_is_home(const char *path)
{
	if (strcmp(path, "/root") == 0 || strcmp(path, "/home") == 0)
		return true;
	return str_starts(path, "/home/") && !strchr(path + strlen("/home/"), '/');
}

/* A directory that no .git makes a worktree. */
static bool is_limit(const struct climb *c)
{
	_cleanup_free_ char *path = path_of(c);

	if (!path || c->len <= 1 || (geteuid() == 0 && project_is_home(path)))
		return true;
	for (char *const *home = c->homes; home && *home; home++)
		if (path_is_below(*home, path))
			return true;
	return false;
}

/* git's own test, by types alone: HEAD, objects and refs. stat() of a link that leads elsewhere opens nothing. */
static bool looks_like_git(int git)
{
	struct stat st;

	return fstatat(git, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) && fstatat(git, "objects", &st, 0) == 0 &&
	       S_ISDIR(st.st_mode) && fstatat(git, "refs", &st, 0) == 0 && S_ISDIR(st.st_mode);
}

#define REMEDY "to use the current directory alone, without its repository: --here"

static const char *type_name(mode_t mode)
{
	if (S_ISLNK(mode))
		return "symbolic link";
	if (S_ISFIFO(mode))
		return "FIFO";
	return S_ISSOCK(mode) ? "socket" : S_ISREG(mode) ? "file" : "device";
}

/* Text of a file "gitdir: PATH"; NULL: it is none, or cannot be read. Never more than GITFILE_MAX bytes of it. */
static char *read_gitfile(int dir, const struct stat *seen)
{
	/* O_NONBLOCK: it may have become a FIFO. */
	_cleanup_close_ int fd =
		openat(dir, ".git", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	static const char prefix[] = "gitdir: ";
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t len;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != seen->st_ino || st.st_dev != seen->st_dev ||
	    st.st_size > GITFILE_MAX || fd_read_all(fd, GITFILE_MAX, &text, &len, NULL) < 0)
		return NULL;
	if (strlen(text) != len || !str_starts(text, prefix))
		return NULL;
	text[strcspn(text, "\r\n")] = '\0';
	return strdup(text + strlen(prefix));
}

static int refuse(const char *path, const struct stat *st, struct fault *f)
{
	return fault_set(f, EPERM,
			 "'%s/.git' is a %s, not a directory: custody follows none, and cannot tell which "
			 "project this is; " REMEDY,
			 path, type_name(st->st_mode));
}

/* A file .git: 1 if the repository that it names belongs to this directory. */
static int follow(struct climb *c, const struct stat *st, struct fault *f)
{
	_cleanup_free_ char *path = path_of(c),
			    *gitdir = S_ISREG(st->st_mode) ? read_gitfile(c->fd, st) : NULL;
	_cleanup_fault_ struct fault why = { 0 };
	_cleanup_git_link_ struct git_link g = { 0 };

	if (!path)
		return fault_errno(f, ENOMEM, "project");
	if (!gitdir)
		return refuse(path, st, f);
	if (git_link_find(c->fd, st->st_ino, gitdir, c->owner, &g, &why) == 0 &&
	    (path_is_below(g.repository, path) || path_is_below(path, g.repository)))
		(void)fault_set(&why, EPERM, "which is not apart from the worktree");
	if (why.code)
		return fault_set(
			f, EPERM,
			"'%s/.git' names the repository '%s', %s: custody follows none such; " REMEDY, path,
			gitdir, fault_text(&why));
	c->git = g;
	g = (struct git_link){ 0 };
	return 1;
}

/* 1: FD is a project; 0: not, look above; -ENOENT without a fault: not, and look no further. */
static int look(struct climb *c, struct fault *f)
{
	_cleanup_close_ int git = openat(c->fd, ".git", O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (git < 0)
		return errno == ENOENT ? 0 : -ENOENT;
	if (fstat(git, &st) < 0 || st.st_uid != c->owner)
		return -ENOENT;
	if (c->any)
		return 1;
	if (S_ISDIR(st.st_mode))
		return looks_like_git(git);
	return follow(c, &st, f);
}

/* False: the parent belongs to another owner or file system. */
static bool ascend(struct climb *c)
{
	_cleanup_close_ int up = openat(c->fd, "..", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (up < 0 || fstat(up, &st) < 0 || st.st_uid != c->owner || st.st_dev != c->st.st_dev)
		return false;
	fd_close(c->fd);
	c->fd = TAKE_FD(up);
	c->st = st;
	while (c->len > 0 && c->cwd[c->len - 1] != '/')
		c->len--;
	c->len -= c->len > 1;
	return true;
}

/* The path must still be the directory that was found: a parent may have been renamed. */
static int require_same(const struct climb *c, const char *path, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(f, errno, "worktree '%s'", path);
	if (st.st_ino != c->st.st_ino || st.st_dev != c->st.st_dev)
		return fault_set(f, EBUSY, "'%s' was renamed while the project was looked for: try again",
				 path);
	return 0;
}

static int take(struct climb *c, struct project *ret, struct fault *f)
{
	_cleanup_project_ struct project p = { .top = path_of(c) };
	int r;

	p.below = strdup(c->cwd + c->len + (c->cwd[c->len] == '/'));
	if (!p.top || !p.below)
		return fault_errno(f, ENOMEM, "project");
	r = require_same(c, p.top, f);
	if (r < 0)
		return r;
	p.git = c->git;
	c->git = (struct git_link){ 0 };
	*ret = p;
	p = (struct project){ 0 };
	return 0;
}

static int find(struct climb *c, struct project *ret, struct fault *f)
{
	/* Another user's tree is used as it is. Root works in trees of users, within those of one owner. */
	int r = c->owner == geteuid() || geteuid() == 0 ? 0 : -ENOENT;

	for (int depth = 0; r == 0 && depth < DEPTH_MAX && !is_limit(c); depth++) {
		r = look(c, f);
		if (r == 0 && !ascend(c))
			break;
	}
	if (r == 1)
		return take(c, ret, f);
	if (r < 0 && r != -ENOENT)
		return r;
	*ret = (struct project){ .top = strdup(c->cwd), .below = strdup("") };
	if (ret->top && ret->below)
		return 0;
	project_done(ret);
	return fault_errno(f, ENOMEM, "project");
}

int project_find(char *const *homes, struct project *ret, struct fault *f)
{
	_cleanup_(climb_done) struct climb c = { .fd = -EBADF, .homes = homes };
	int r = begin(&c, f);

	return r < 0 ? r : find(&c, ret, f);
}

int project_find_any(const char *home, struct project *ret, struct fault *f)
{
	_cleanup_free_ char *real = home && home[0] == '/' ? realpath(home, NULL) : NULL;
	char *const homes[] = { real, NULL };
	_cleanup_(climb_done) struct climb c = { .fd = -EBADF, .homes = homes, .any = true };
	int r = begin(&c, f);

	return r < 0 ? r : find(&c, ret, f);
}
