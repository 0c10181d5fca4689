/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/path.h"
#include "base/str.h"
#include "base/write-access.h"
#include "subject/subject-build.h"

/* Files up to this size are copied, others bound. */
#define COPY_MAX ((off_t)128 * 1024)
#define COPIES_MAX 64

/* For profiles without root.paths.  On merged-/usr hosts all but the first are symlinks into it. */
static const char *const host_paths[] = {
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", NULL
};

/*
 * Entries of a root directory that are skipped: custody mounts its own, or a container should not see them.
 */
static const char *const root_dir_skipped[] = { "proc", "sys", "dev", "run", "tmp", "lost+found", NULL };

static bool is_shown(const struct subject *s, const char *path)
{
	for (size_t i = 0; i < s->n_mounts; i++)
		if (s->mounts[i].kind == SUBJECT_MOUNT_BIND &&
		    strcmp(s->mounts[i].source, s->mounts[i].target) == 0 &&
		    path_is_below(path, s->mounts[i].target))
			return true;
	return false;
}

/* Worth copying: a regular file that all users may read, and that may be slightly outdated in a run. */
static bool is_small(const struct stat *st)
{
	return S_ISREG(st->st_mode) && (st->st_mode & S_IROTH) && st->st_size <= COPY_MAX;
}

static int add_copy(struct subject *s, const char *path, struct fault *f)
{
	if (!str_is_utf8(path, strlen(path)) || strv_has(s->copies, path))
		return 0;
	return strv_append(&s->copies, path) < 0 ? fault_errno(f, ENOMEM, "root") : 0;
}

/*
 * A directory of /etc with a few small files (ld.so.conf.d; Debian's terminfo, which holds a README) is
 * copied as well.  *RET_FITS: all of it could be copied.
 */
static int copy_dir(struct subject *s, const char *path, bool *ret_fits, struct fault *f)
{
	_cleanup_dir_ DIR *d = opendir(path);
	_cleanup_strv_ char **files = NULL;
	struct dirent *e;
	struct stat st;
	int r = 0;

	*ret_fits = false;
	while (d && (e = readdir(d))) {
		_cleanup_free_ char *file = path_join(path, e->d_name);

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (!file || strv_len(files) >= COPIES_MAX / 4 || lstat(file, &st) < 0 || !is_small(&st))
			return 0;
		if (strv_append(&files, file) < 0)
			return fault_errno(f, ENOMEM, "root");
	}
	for (size_t i = 0; r >= 0 && files && files[i]; i++)
		r = add_copy(s, files[i], f);
	*ret_fits = d != NULL;
	return r;
}

/* *RET_DONE: PATH needs no mount. */
static int copy(struct subject *s, const char *path, const struct stat *st, bool *ret_done, struct fault *f)
{
	*ret_done = false;
	if (!path_is_below(path, "/etc") || strv_len(s->copies) >= COPIES_MAX)
		return 0;
	/* Not worth reading: it holds directories, or many names. */
	if (S_ISDIR(st->st_mode) && (st->st_nlink > 2 || st->st_size > 4096))
		return 0;
	if (S_ISDIR(st->st_mode))
		return copy_dir(s, path, ret_done, f);
	*ret_done = is_small(st);
	return *ret_done ? add_copy(s, path, f) : 0;
}

static int bind_host(struct subject *s, const char *path, struct fault *f)
{
	_cleanup_free_ char *real = realpath(path, NULL);

	if (!real)
		return errno == ENOMEM ? fault_errno(f, ENOMEM, "root.paths: '%s'", path) : 0;
	return subject_add_bind(s, real, path, false, false, f);
}

/* A link stays a link if its target is visible as well; else its target is bound. */
static int show_link(struct subject *s, const char *path, struct fault *f)
{
	_cleanup_free_ char *real = realpath(path, NULL);
	char text[PATH_MAX];
	ssize_t len;

	if (!real)
		return errno == ENOMEM ? fault_errno(f, ENOMEM, "root.paths: '%s'", path) : 0;
	len = readlink(path, text, sizeof(text) - 1);
	if (len <= 0 || !is_shown(s, real))
		return bind_host(s, path, f);
	text[len] = '\0';
	/* A chain of links may pass through hidden directories: then link to its end. */
	return subject_add_link(s, path, text[0] == '/' && !is_shown(s, text) ? real : text, f);
}

/* PATH of the host at the same place inside, as a link, a copy or a bind; missing paths are skipped. */
static int show(struct subject *s, const char *path, struct fault *f)
{
	bool done = false;
	struct stat st;
	int r;

	if (subject_find_mount(s, path) || strcmp(subject_work_target(s), path) == 0)
		return 0;
	if (lstat(path, &st) < 0)
		return 0;
	if (S_ISLNK(st.st_mode))
		return show_link(s, path, f);
	r = copy(s, path, &st, &done, f);
	return r < 0 || done ? r : bind_host(s, path, f);
}

static int show_host(struct subject *s, struct fault *f)
{
	char *const *asked = s->profile->root_host_paths;
	const char *const *paths = asked && asked[0] ? (const char *const *)asked : host_paths;
	int r = 0;

	for (size_t i = 0; r >= 0 && paths[i]; i++)
		r = show(s, paths[i], f);
	if (r >= 0 && !subject_find_mount(s, "/usr") && !subject_find_mount(s, "/bin"))
		return fault_set(f, ENOENT,
				 "root.paths contains neither /usr nor /bin: no program could start");
	return r;
}

static bool is_skipped(const char *name)
{
	for (size_t i = 0; root_dir_skipped[i]; i++)
		if (strcmp(name, root_dir_skipped[i]) == 0)
			return true;
	return false;
}

static int show_entry(struct subject *s, const char *dir, const char *name, struct fault *f)
{
	_cleanup_free_ char *source = path_join(dir, name), *target = path_join("/", name);
	char text[PATH_MAX];
	struct stat st;
	ssize_t len;

	if (!source || !target)
		return fault_errno(f, ENOMEM, "root directory");
	if (!str_is_utf8(name, strlen(name)))
		return fault_set(f, EILSEQ, "the name of root directory '%s' is not UTF-8", dir);
	if (subject_find_mount(s, target) || strcmp(subject_work_target(s), target) == 0)
		return 0;
	if (lstat(source, &st) < 0)
		return fault_errno(f, errno, "root directory '%s'", source);
	if (!S_ISLNK(st.st_mode))
		return S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)
			       ? subject_add_bind(s, source, target, false, false, f)
			       : 0;
	len = readlink(source, text, sizeof(text) - 1);
	if (len < 0)
		return fault_errno(f, errno, "root directory '%s'", source);
	text[len] = '\0';
	return subject_add_link(s, target, text, f);
}

/*
 * The entries are mounted by name, some time after they were checked.  A user able to replace one by a link
 * in between chooses which path of the host is visible: only its owner may be able to.
 */
static int require_own_dir(int fd, const char *dir, struct fault *f)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "root directory '%s'", dir);
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || write_access_is_shared(fd, &st))
		return fault_set(f, EPERM,
				 "root directory '%s' can be changed by other users: chown it to yourself "
				 "and chmod go-w '%s'",
				 dir, dir);
	return 0;
}

/*
 * A root directory is not mounted as the root itself: missing mount points would have to be created in it.
 * Its entries are bound into a root of our own instead; it is never written.
 */
static int show_dir(struct subject *s, struct fault *f)
{
	_cleanup_dir_ DIR *d = NULL;
	_cleanup_free_ char *dir = NULL;
	struct dirent *e;
	int r = 0;

	if (!s->profile->root_path)
		return fault_set(f, EINVAL, "root.path is missing: root.type \"dir\" needs it");
	dir = realpath(s->profile->root_path, NULL);
	if (!dir)
		return fault_errno(f, errno, "root directory '%s'", s->profile->root_path);
	if (strcmp(dir, "/") == 0)
		return fault_set(f, EPERM, "root directory '/': use root.type \"host-ro\"");
	d = opendir(dir);
	if (!d)
		return fault_errno(f, errno, "root directory '%s'", dir);
	r = require_own_dir(dirfd(d), dir, f);
	while (r >= 0) {
		errno = 0;
		e = readdir(d);
		if (!e)
			break;
		if (e->d_name[0] != '.' && !is_skipped(e->d_name))
			r = show_entry(s, dir, e->d_name, f);
	}
	if (r >= 0 && errno)
		return fault_errno(f, errno, "root directory '%s'", dir);
	if (r >= 0 && !subject_find_mount(s, "/usr") && !subject_find_mount(s, "/bin"))
		return fault_set(f, ENOENT, "root directory '%s' has neither usr nor bin", dir);
	return r;
}

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int compare_links(const void *a, const void *b)
{
	return strcmp(((const struct subject_link *)a)->target, ((const struct subject_link *)b)->target);
}

int subject_build_root(struct subject *s, struct fault *f)
{
	int r = s->profile->root == PROFILE_ROOT_DIR ? show_dir(s, f) : show_host(s, f);

	/* A directory lists its names in any order: the subject must not depend on it. */
	if (s->copies)
		qsort(s->copies, strv_len(s->copies), sizeof(*s->copies), compare_words);
	if (s->links)
		qsort(s->links, s->n_links, sizeof(*s->links), compare_links);
	return r;
}
