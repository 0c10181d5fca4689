/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile-file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "base/write-access.h"
#include "profile/profile-impl.h"

#define SUFFIX ".json"
#define DIR_ENTRIES_MAX 4096

int profile_file_verify(const struct profile_file *file, const struct profile_vars *vars, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = NULL;

	return profile_document_parse(file->text, file->len, file->path, vars, &doc, f);
}

void profile_file_done(struct profile_file *file)
{
	free(file->path);
	free(file->text);
	*file = (struct profile_file){ 0 };
}

char *profile_worktree_dir(const char *worktree)
{
	return path_join(worktree, ".custody/profiles");
}

/*
 * In a user namespace with a partial map the files of the host's root show the overflow id, and so do those
 * of every other unmapped user.  Accepted only in a directory that the caller configured, never for a path
 * given by name.
 */
bool profile_owner_is_unmapped(uid_t uid)
{
	_cleanup_close_ int fd = open("/proc/sys/kernel/overflowuid", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int map = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL, *rows = NULL;
	unsigned long first, outside, count;
	uint64_t overflow;
	size_t len;

	if (fd < 0 || map < 0 || fd_read_all(fd, 64, &text, &len, NULL) < 0 ||
	    fd_read_all(map, 65536, &rows, &len, NULL) < 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	if (str_to_u64(text, &overflow) < 0 || uid != (uid_t)overflow)
		return false;
	return sscanf(rows, "%lu %lu %lu", &first, &outside, &count) == 3 && count < UINT32_MAX;
}

static int require_owner(int fd, const char *path, const struct stat *st, bool searched, struct fault *f)
{
	if (st->st_uid != 0 && st->st_uid != geteuid() &&
	    !(searched && profile_owner_is_unmapped(st->st_uid)))
		return fault_set(f, EPERM,
				 "profile '%s' belongs to uid %lu, neither to root nor to you, so its owner "
				 "could change it: chown it, or copy it into a directory of yours",
				 path, (unsigned long)st->st_uid);
	if (st->st_mode & S_IWOTH)
		return fault_set(f, EPERM, "profile '%s' is writable by other users: chmod go-w '%s'", path,
				 path);
	if (write_access_is_shared(fd, st))
		return fault_set(f, EPERM, "profile '%s' is writable by its group: chmod go-w '%s'", path,
				 path);
	return 0;
}

static const char *type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a directory";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFCHR:
	case S_IFBLK:
		return "a device";
	default:
		return "of an unknown type";
	}
}

static int require_readable(const char *path, const struct stat *st, struct fault *f)
{
	if (!S_ISREG(st->st_mode))
		return fault_set(f, EINVAL,
				 "profile '%s' is %s, not a file: name a file that ends in " SUFFIX, path,
				 type_name(st->st_mode));
	/* Before the first read, so that a huge file costs nothing. */
	if (st->st_size > (off_t)PROFILE_SIZE_MAX)
		return fault_set(
			f, EFBIG,
			"profile '%s' has %lld bytes, more than the limit of %zu: is it the right file?",
			path, (long long)st->st_size, PROFILE_SIZE_MAX);
	return 0;
}

static int open_failed(const char *path, int error, struct fault *f)
{
	if (error == ELOOP)
		return fault_set(f, ELOOP,
				 "profile '%s' is a symbolic link, which is not followed: name its target",
				 path);
	if (error == ENXIO || error == ENODEV)
		return fault_set(f, EINVAL, "profile '%s' is not a file: name a file that ends in " SUFFIX,
				 path);
	if (error == EACCES)
		return fault_set(f, EACCES, "profile '%s' cannot be read: chmod u+r it, or run as its owner",
				 path);
	return fault_errno(f, error, "open profile '%s'", path);
}

/* Path of the open file, with all links in its directories resolved. */
static char *resolved(int fd)
{
	char link[64], target[PATH_MAX];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, target, sizeof(target) - 1);
	if (n <= 0 || (size_t)n >= sizeof(target) - 1)
		return NULL;
	target[n] = '\0';
	return *target == '/' ? strdup(target) : NULL;
}

static char *resolved_dir(const char *path)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? NULL : resolved(fd);
}

/* PATH made absolute, "." and ".." removed lexically.  NULL on ENOMEM. */
static char *collapse(const char *path)
{
	_cleanup_free_ char *cwd = *path == '/' ? strdup("") : getcwd(NULL, 0), *rest = strdup(path);
	_cleanup_strbuf_ struct strbuf b = { 0 };
	char *next = rest;
	const char *word;

	if (!cwd || !rest)
		return NULL;
	strbuf_puts(&b, strcmp(cwd, "/") == 0 ? "" : cwd);
	while (!b.broken && (word = strsep(&next, "/"))) {
		if (strcmp(word, "..") == 0 && b.len > 0) {
			b.len = (size_t)(strrchr(b.text, '/') - b.text);
			b.text[b.len] = '\0';
		} else if (*word && strcmp(word, ".") != 0 && strcmp(word, "..") != 0) {
			strbuf_printf(&b, "/%s", word);
		}
	}
	return strbuf_take(&b);
}

/*
 * Is the file in the worktree, or was it reached through it?  A link in the worktree is as untrusted as a
 * file in it: it could point to any file of the caller.
 */
static bool is_in_worktree(const char *given, const char *path, const char *worktree)
{
	_cleanup_free_ char *top = NULL, *prefix = NULL;
	char *slash;

	if (!worktree)
		return false;
	top = resolved_dir(worktree);
	/* A file whose place is unknown is untrusted. */
	if (!top || path_is_below(path, top))
		return true;
	prefix = collapse(given);
	if (!prefix)
		return true;
	while ((slash = strrchr(prefix, '/'))) {
		_cleanup_free_ char *dir = NULL;

		*slash = '\0';
		dir = *prefix ? resolved_dir(prefix) : NULL;
		if (dir && path_is_below(dir, top))
			return true;
	}
	return false;
}

static int read_file(int fd, const char *path, bool searched, struct profile_file *ret, struct fault *f)
{
	_cleanup_profile_file_ struct profile_file file = { 0 };
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "profile '%s'", path);
	r = require_readable(path, &st, f);
	if (r == 0)
		r = require_owner(fd, path, &st, searched, f);
	if (r < 0)
		return r;
	r = fd_read_all(fd, PROFILE_SIZE_MAX, &file.text, &file.len, f);
	if (r < 0)
		return fault_wrap(f, r, "profile '%s'", path);
	digest_bytes(file.text, file.len, &file.digest);
	file.path = resolved(fd);
	if (!file.path)
		return fault_set(f, ENOENT, "profile '%s': cannot resolve its path: is /proc mounted?", path);
	*ret = file;
	file = (struct profile_file){ 0 };
	return 0;
}

/* O_NONBLOCK: a FIFO under this name must not block before its type is checked. */
static int open_path(const char *path, bool searched, struct profile_file *ret, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return fault_errno(f, ENOENT, "profile '%s'", path);
	if (fd < 0)
		return open_failed(path, errno, f);
	return read_file(fd, path, searched, ret, f);
}

/*
 * A user with write access to the directory could rename profiles, or hide one so that a looser one is found
 * elsewhere.
 */
static int require_dir(const char *dir, struct fault *f)
{
	_cleanup_close_ int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0
							   : fault_errno(f, errno, "profiles in '%s'", dir);
	if (st.st_uid != 0 && st.st_uid != geteuid() && !profile_owner_is_unmapped(st.st_uid))
		return fault_set(
			f, EPERM,
			"directory of profiles '%s' belongs to uid %lu, neither to root nor to you: chown it",
			dir, (unsigned long)st.st_uid);
	if (!(st.st_mode & S_ISVTX) && write_access_is_shared(fd, &st))
		return fault_set(f, EPERM,
				 "directory of profiles '%s' is writable by other users: chmod go-w '%s'",
				 dir, dir);
	return 0;
}

/* -ENOENT without a text: continue the search. */
static int open_in(const char *dir, const char *name, bool searched, struct profile_file *ret,
		   struct fault *f)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_strbuf_ struct strbuf b = { 0 };
	struct stat st;
	int r = searched ? require_dir(dir, f) : 0;

	if (r < 0)
		return r;
	strbuf_printf(&b, "%s/%s" SUFFIX, dir, name);
	path = strbuf_take(&b);
	if (!path)
		return fault_errno(f, ENOMEM, "profile '%s'", name);
	if (lstat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return -ENOENT;
	return open_path(path, searched, ret, f);
}

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int profile_dir_list(const char *dir, char ***ret, struct fault *f)
{
	_cleanup_strv_ char **names = NULL;
	const struct dirent *e;
	size_t n = 0;
	DIR *d;

	d = opendir(dir);
	if (!d && errno != ENOENT && errno != ENOTDIR)
		return fault_errno(f, errno, "read directory '%s'", dir);
	while (d && (e = readdir(d)) && n < DIR_ENTRIES_MAX) {
		size_t len = strlen(e->d_name);

		if (!str_ends(e->d_name, SUFFIX) || *e->d_name == '.')
			continue;
		if (strv_appendf(&names, "%.*s", (int)(len - strlen(SUFFIX)), e->d_name) < 0) {
			(void)closedir(d);
			return fault_errno(f, ENOMEM, "read directory '%s'", dir);
		}
		n++;
	}
	if (d)
		(void)closedir(d);
	if (n > 0)
		qsort(names, n, sizeof(*names), compare_text);
	*ret = TAKE_PTR(names);
	return 0;
}

/* Best effort: a directory that cannot be listed yields no suggestions. */
static void collect(const char *dir, struct strbuf *searched, char ***names)
{
	_cleanup_strv_ char **found = NULL;

	strbuf_printf(searched, "%s%s", searched->len ? ", " : "", dir);
	if (profile_dir_list(dir, &found, NULL) < 0)
		return;
	for (size_t i = 0; found && found[i]; i++)
		(void)strv_append(names, found[i]);
}

static int not_found(const char *name, const struct profile_sources *src, bool outside, struct fault *f)
{
	_cleanup_free_ char *own = src->worktree && !outside ? profile_worktree_dir(src->worktree) : NULL;
	_cleanup_strbuf_ struct strbuf searched = { 0 };
	_cleanup_strv_ char **names = NULL;
	int near;

	for (size_t i = 0; src->dirs && src->dirs[i]; i++)
		collect(src->dirs[i], &searched, &names);
	if (own)
		collect(own, &searched, &names);
	near = names ? str_nearest(name, (const char *const *)names) : -1;
	if (near < 0 && str_ends(name, SUFFIX))
		return fault_set(f, ENOENT, "no profile '%s'; to name a file, write its path: ./%s", name,
				 name);
	return fault_set(f, ENOENT, "no profile '%s'%s%s%s searched: %s; 'custody profile ls' lists them",
			 name, near >= 0 ? ": did you mean '" : ";", near >= 0 ? names[near] : "",
			 near >= 0 ? "'?" : "",
			 searched.text && !searched.broken ? searched.text : "nothing");
}

static int open_given(const char *path, const struct profile_sources *src, struct profile_file *ret,
		      struct fault *f)
{
	int r;

	r = open_path(path, false, ret, f);
	if (r == 0)
		ret->in_worktree = is_in_worktree(path, ret->path, src->worktree);
	return r;
}

/* As open_in, but *BEHIND, unless NULL, and everything before it in the search count as missing. */
static int open_behind(const char *dir, const char *name, bool searched, const char **behind,
		       struct profile_file *ret, struct fault *f)
{
	int r = open_in(dir, name, searched, ret, f);

	if (r < 0 || !*behind)
		return r;
	if (strcmp(ret->path, *behind) == 0)
		*behind = NULL;
	profile_file_done(ret);
	return -ENOENT;
}

int profile_file_open(const char *name, const struct profile_sources *src, bool outside, const char *behind,
		      struct profile_file *ret, struct fault *f)
{
	_cleanup_free_ char *own = NULL;
	int r = -ENOENT;

	if (strchr(name, '/'))
		return open_given(name, src, ret, f);
	if (!profile_key_find(NULL, "name")->shape->is(name))
		return fault_set(f, EINVAL,
				 "'%s' is not a profile name (%s); a path contains a '/', such as './%s'",
				 name, profile_key_find(NULL, "name")->shape->what, name);
	for (size_t i = 0; src->dirs && src->dirs[i] && r == -ENOENT; i++)
		r = open_behind(src->dirs[i], name, true, &behind, ret, f);
	if (r == -ENOENT && src->worktree && !outside) {
		own = profile_worktree_dir(src->worktree);
		if (!own)
			return fault_errno(f, ENOMEM, "profile '%s'", name);
		r = open_behind(own, name, false, &behind, ret, f);
		if (r == 0)
			ret->in_worktree = true;
	}
	return r == -ENOENT ? not_found(name, src, outside, f) : r;
}
