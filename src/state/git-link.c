/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/git-link.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define BLANKS " \t"

void git_link_done(struct git_link *g)
{
	free(g->repository);
	free(g->own);
	*g = (struct git_link){ 0 };
}

/* PATH, absolute or from DIR; a link in any part of it is refused. */
static int open_plain(int dir, const char *path, int flags)
{
	const struct open_how how = { .flags = (uint64_t)(unsigned int)flags | O_NOFOLLOW | O_CLOEXEC,
				      .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/* A directory of OWNER. */
static int open_dir(int dir, const char *path, uid_t owner, struct stat *st, struct fault *f)
{
	_cleanup_close_ int fd = open_plain(dir, path, O_PATH | O_DIRECTORY);

	if (fd == -ENOENT)
		return fault_set(f, ENOENT, "which does not exist");
	if (fd == -ELOOP)
		return fault_set(f, ELOOP, "whose path has a symbolic link");
	if (fd == -ENOTDIR)
		return fault_set(f, ENOTDIR, "which is not a directory");
	if (fd < 0)
		return fault_errno(f, -fd, "which cannot be opened");
	if (fstat(fd, st) < 0)
		return fault_errno(f, errno, "which cannot be read");
	if (st->st_uid != owner)
		return fault_set(f, EPERM, "which belongs to uid %u and not to uid %u",
				 (unsigned int)st->st_uid, (unsigned int)owner);
	return TAKE_FD(fd);
}

/* The whole of a small file NAME in DIR, of OWNER. -ENOENT without a fault: it is missing. */
static int read_small(int dir, const char *name, uid_t owner, char **ret, struct fault *f)
{
	/* O_NONBLOCK: it may be a FIFO. */
	_cleanup_close_ int fd = open_plain(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t len;

	if (fd == -ENOENT)
		return -ENOENT;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != owner ||
	    (uint64_t)st.st_size > GIT_LINK_FILE_MAX ||
	    fd_read_all(fd, GIT_LINK_FILE_MAX, &text, &len, NULL) < 0 || strlen(text) != len)
		return fault_set(f, EPERM, "whose file '%s' is no small text file of the same owner", name);
	*ret = TAKE_PTR(text);
	return 0;
}

/* git's own test, by types alone. */
static int require_repository(int fd, struct fault *f)
{
	struct stat st;

	if (fstatat(fd, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    fstatat(fd, "objects", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
	    fstatat(fd, "refs", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
		return 0;
	return fault_set(f, EINVAL, "which is not a git directory: HEAD, objects or refs is missing");
}

static int path_of(int fd, char **ret, struct fault *f)
{
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)], text[4096];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, text, sizeof(text));
	if (n < 0 || (size_t)n == sizeof(text))
		return fault_errno(f, n < 0 ? errno : ENAMETOOLONG, "whose path cannot be found");
	text[n] = '\0';
	*ret = strdup(text);
	return *ret ? 0 : fault_errno(f, ENOMEM, "project");
}

/* Does TEXT, a path from DIR, name the inode that WANT has? */
static bool names_inode(int dir, const char *text, const struct stat *want)
{
	_cleanup_close_ int fd = open_plain(dir, text, O_PATH);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == want->st_ino && st.st_dev == want->st_dev;
}

static int refuse_other(const char *name, struct fault *f)
{
	return fault_set(f, EPERM, "whose '%s' does not point back here", name);
}

/* --- a linked worktree ------------------------------------------------------------------------------------------------ */

/* FD is COMMON/worktrees/NAME; its file gitdir names our .git. */
static int take_linked(int fd, char *common, const struct stat *git, uid_t owner, struct git_link *ret,
		       struct fault *f)
{
	_cleanup_free_ char *back = NULL, *own = NULL, *top = NULL, *parts = NULL;
	_cleanup_close_ int dir = -EBADF;
	struct stat st;
	int r = read_small(fd, "gitdir", owner, &back, f);

	if (r < 0)
		return r == -ENOENT ? refuse_other("gitdir", f) : r;
	back[strcspn(back, "\r\n")] = '\0';
	if (!names_inode(fd, back, git))
		return refuse_other("gitdir", f);
	common[strcspn(common, "\r\n")] = '\0';
	dir = open_dir(fd, common, owner, &st, f);
	if (dir < 0)
		return dir;
	r = require_repository(dir, f);
	if (r == 0)
		r = path_of(fd, &own, f);
	if (r == 0)
		r = path_of(dir, &top, f);
	if (r < 0)
		return r;
	parts = path_join(top, "worktrees");
	if (!parts)
		return fault_errno(f, ENOMEM, "project");
	if (!path_is_below(own, parts) || strlen(own) <= strlen(parts))
		return fault_set(f, EPERM, "whose 'commondir' is another repository's");
	ret->own = strdup(own + strlen(top) + 1);
	if (!ret->own)
		return fault_errno(f, ENOMEM, "project");
	ret->device = st.st_dev;
	ret->inode = st.st_ino;
	ret->repository = TAKE_PTR(top);
	return 0;
}

/* --- a submodule ------------------------------------------------------------------------------------------------------ */

/* Value of LINE if it sets KEY; NULL: another one. Quotes and escapes are not understood, so they match no path. */
static char *value_of(char *line, const char *key)
{
	size_t n = strlen(key);
	char *end;

	line += strspn(line, BLANKS);
	if (strncasecmp(line, key, n) != 0)
		return NULL;
	line += n;
	line += strspn(line, BLANKS);
	if (*line != '=')
		return NULL;
	line += 1 + strspn(line + 1, BLANKS);
	end = line + strlen(line);
	while (end > line && strchr(BLANKS "\r", end[-1]))
		*--end = '\0';
	return line;
}

/* The last core.worktree of CONFIG, which is changed; NULL: none. */
static char *find_worktree(char *config)
{
	char *save = NULL, *found = NULL;
	bool in_core = false;

	for (char *line = strtok_r(config, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *value;

		line += strspn(line, BLANKS);
		if (*line == '[') {
			in_core = strncasecmp(line, "[core]", strlen("[core]")) == 0;
			continue;
		}
		value = in_core ? value_of(line, "worktree") : NULL;
		if (value)
			found = value;
	}
	return found;
}

static int take_submodule(int fd, const struct stat *seen, int top, uid_t owner, struct git_link *ret,
			  struct fault *f)
{
	_cleanup_free_ char *config = NULL;
	const char *back;
	struct stat st;
	int r = require_repository(fd, f);

	if (r == 0)
		r = read_small(fd, "config", owner, &config, f);
	if (r < 0)
		return r == -ENOENT ? refuse_other("core.worktree", f) : r;
	if (fstat(top, &st) < 0)
		return fault_errno(f, errno, "which cannot be compared");
	back = find_worktree(config);
	if (!back || !names_inode(fd, back, &st))
		return refuse_other("core.worktree", f);
	ret->device = seen->st_dev;
	ret->inode = seen->st_ino;
	return path_of(fd, &ret->repository, f);
}

int git_link_find(int top, ino_t git, const char *path, uid_t owner, struct git_link *ret, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *common = NULL;
	struct stat st, file;
	int r;

	*ret = (struct git_link){ 0 };
	if (fstat(top, &file) < 0)
		return fault_errno(f, errno, "which cannot be compared");
	file.st_ino = git;
	fd = open_dir(top, path, owner, &st, f);
	if (fd < 0)
		return fd;
	r = read_small(fd, "commondir", owner, &common, f);
	if (r == -ENOENT)
		return take_submodule(fd, &st, top, owner, ret, f);
	return r < 0 ? r : take_linked(fd, common, &file, owner, ret, f);
}
