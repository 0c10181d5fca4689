/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/fd.h"
#include "gitwork/git-source.h"

/*
 * Files are copied under names of our own, counted while they are read: one that grows meanwhile ends the copy.  Indexes of packs,
 * commit graphs, bitmaps, grafts and replacements stay behind: git computes its own from the objects.
 */
struct copy {
	const struct git_source *source;
	int to; /* directory `objects` of GIT_SOURCE */
	uint64_t bytes, loose, packs;
};

static int copy_bytes(struct copy *c, int from, int to, struct fault *f)
{
	char part[131072];

	for (;;) {
		ssize_t n = read(from, part, sizeof(part));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fault_errno(f, errno, "read an object of the repository");
		if (n == 0)
			return 0;
		c->bytes += (uint64_t)n;
		if (c->bytes > GIT_OBJECTS_MAX)
			return fault_set(f, EFBIG, "the repository has more than %llu MiB of objects",
					 (unsigned long long)(GIT_OBJECTS_MAX >> 20));
		if (fd_write_all(to, part, (size_t)n, f) < 0)
			return fault_set(f, EIO, "an object of the repository cannot be copied");
	}
}

static int copy_file(struct copy *c, int dir, const char *name, const char *to_name, struct fault *f)
{
	_cleanup_close_ int from = git_source_open_file(c->source, dir, name), to = -EBADF;

	if (from == -ENOENT)
		return 0; /* repacked meanwhile: git finds the object, or fails */
	if (from < 0)
		return fault_set(f, -from,
				 "an object of the repository is no regular file, or cannot be read");
	to = openat(c->to, to_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	return to < 0 ? fault_errno(f, errno, "copy an object") : copy_bytes(c, from, to, f);
}

/* Directory NAME of DIR; NULL: it is missing, and R is 0. */
static DIR *open_list(const struct copy *c, int dir, const char *name, int *r, struct fault *f)
{
	int fd = git_source_open_dir(c->source, dir, name);
	DIR *d = NULL;

	*r = 0;
	if (fd == -ENOENT)
		return NULL;
	if (fd >= 0)
		d = fdopendir(fd);
	if (!d) {
		*r = fault_set(f, EINVAL,
			       "a directory of the repository's objects is none, or cannot be read");
		if (fd >= 0)
			(void)fd_close(fd);
	}
	return d;
}

static bool is_hex(const char *text, size_t len)
{
	return strlen(text) == len && strspn(text, "0123456789abcdef") == len;
}

static int copy_loose(struct copy *c, int objects, const char *name, struct fault *f)
{
	int r;
	_cleanup_dir_ DIR *d = open_list(c, objects, name, &r, f);
	const struct dirent *e;

	if (!d)
		return r;
	if (mkdirat(c->to, name, 0700) < 0)
		return fault_errno(f, errno, "copy objects");
	while (r == 0 && (e = readdir(d))) {
		char to[GIT_OID_SIZE + 1];

		if (!is_hex(e->d_name, GIT_OID_SIZE - 3))
			continue;
		if (++c->loose > GIT_LOOSE_MAX)
			return fault_set(f, EFBIG,
					 "the repository has more than %d loose objects: run 'git gc'",
					 GIT_LOOSE_MAX);
		(void)snprintf(to, sizeof(to), "%.2s/%.38s", name, e->d_name);
		r = copy_file(c, dirfd(d), e->d_name, to, f);
	}
	return r;
}

static int copy_packs(struct copy *c, int objects, struct fault *f)
{
	int r;
	_cleanup_dir_ DIR *d = open_list(c, objects, "pack", &r, f);
	const struct dirent *e;

	if (!d)
		return r;
	while (r == 0 && (e = readdir(d))) {
		char to[64];

		if (*e->d_name == '.' || !str_ends(e->d_name, ".pack"))
			continue;
		if (c->packs >= GIT_PACKS_MAX)
			return fault_set(f, EFBIG, "the repository has more than %d packs: run 'git gc'",
					 GIT_PACKS_MAX);
		(void)snprintf(to, sizeof(to), "pack/pack-%040u.pack", (unsigned int)c->packs++);
		r = copy_file(c, dirfd(d), e->d_name, to, f);
	}
	return r;
}

/* Objects elsewhere, or parents that are missing: the clean repository would not be the same history. */
static int refuse_partial(const struct copy *c, int objects, struct fault *f)
{
	static const char *const names[] = { "alternates", "http-alternates" };
	_cleanup_close_ int info = git_source_open_dir(c->source, objects, "info");
	struct stat st;

	if (info < 0 && info != -ENOENT)
		return fault_set(f, EINVAL, "objects/info of the repository is no directory");
	for (size_t i = 0; info >= 0 && i < 2; i++)
		if (fstatat(info, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
			return fault_set(
				f, EPERM,
				"the repository borrows objects of another one (objects/info/%s), which "
				"is not followed: run 'git repack -ad' in it, and remove that file",
				names[i]);
	if (fstatat(c->source->git, "shallow", &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
		return fault_set(
			f, ENOTSUP,
			"the repository is shallow, its history incomplete: run 'git fetch --unshallow'");
	return 0;
}

/* `git index-pack` computes the id of each object: the index that came with the pack could say anything. */
static int index_packs(const struct copy *c, const struct git_box *b, struct fault *f)
{
	for (unsigned int i = 0; i < c->packs; i++) {
		char path[80];
		const char *argv[] = { "index-pack", "--threads=1", path, NULL };
		int r;

		(void)snprintf(path, sizeof(path), "objects/pack/pack-%040u.pack", i);
		r = git_run(b, GIT_SOURCE, argv, NULL, NULL, f);
		if (r < 0)
			return fault_wrap(f, r, "a pack of the repository");
	}
	return 0;
}

int git_source_copy(const struct git_source *s, const struct git_box *b, struct fault *f)
{
	_cleanup_close_ int objects = git_source_open_dir(s, s->git, "objects"), to = -EBADF;
	struct copy c = { .source = s };
	int r = objects < 0 ? fault_set(f, EINVAL, "the repository has no directory 'objects' of its own")
			    : refuse_partial(&c, objects, f);

	if (r == 0)
		r = git_box_make_repository(b, GIT_SOURCE, f);
	if (r < 0)
		return r;
	to = openat(b->dir, GIT_SOURCE "/objects", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (to < 0)
		return fault_errno(f, errno, "copy objects");
	c.to = to;
	r = copy_packs(&c, objects, f);
	for (unsigned int i = 0; r == 0 && i < 256; i++) {
		char name[3];

		(void)snprintf(name, sizeof(name), "%02x", i);
		r = copy_loose(&c, objects, name, f);
	}
	return r < 0 ? r : index_packs(&c, b, f);
}

int git_source_import(const struct git_box *b, char *const *want, struct fault *f)
{
	static const char source[] = "../" GIT_SOURCE;
	const char *argv[16] = { "fetch",	 "--quiet",
				 "--no-tags",	 "--no-write-fetch-head",
				 "--no-auto-gc", "--no-recurse-submodules",
				 source };
	_cleanup_strv_ char **specs = NULL;
	struct git_box local = *b;
	size_t n = 7;
	int r = git_box_make_repository(b, GIT_CLEAN, f);

	for (size_t i = 0; r == 0 && want[i] && i < 8; i++)
		if (strv_appendf(&specs, "%s:refs/own/%zu", want[i], i) < 0)
			r = fault_errno(f, ENOMEM, "git");
	if (r < 0)
		return r;
	for (size_t i = 0; specs && specs[i]; i++)
		argv[n++] = specs[i];
	local.protocol = "file";
	r = git_run(&local, GIT_CLEAN, argv, NULL, NULL, f);
	return r < 0 ? fault_wrap(f, r, "objects of the repository are missing or damaged") : 0;
}
