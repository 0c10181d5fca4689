/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gitwork/git-source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/tree-at.h"

void git_source_done(struct git_source *s)
{
	s->git = fd_close(s->git);
}

/*
 * A name in the repository may be a second one of a file that only root may read: it is opened as the owner of the worktree.  A
 * user has no other rights anyway.
 */
static void take_rights(const struct git_source *s)
{
	if (geteuid() == 0) {
		(void)setfsgid(s->gid);
		(void)setfsuid(s->uid);
	}
}

static void return_rights(void)
{
	const int e = errno;

	(void)setfsuid(geteuid());
	(void)setfsgid(getegid());
	errno = e;
}

int git_source_open_dir(const struct git_source *s, int dir, const char *name)
{
	int fd;

	take_rights(s);
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return_rights();
	return fd < 0 ? -errno : fd;
}

int git_source_open_file(const struct git_source *s, int dir, const char *name)
{
	int fd;

	take_rights(s);
	fd = tree_open_file(dir, name);
	return_rights();
	return fd;
}

int git_source_make_dir(const struct git_source *s, int dir, const char *name)
{
	take_rights(s);
	(void)mkdirat(dir, name, 0755);
	return_rights();
	return git_source_open_dir(s, dir, name);
}

int git_source_create(const struct git_source *s, int dir, const char *name)
{
	int fd;

	git_source_unlink(s, dir, name);
	take_rights(s);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	return_rights();
	return fd < 0 ? -errno : fd;
}

int git_source_rename(const struct git_source *s, int dir, const char *from, const char *to)
{
	int r;

	take_rights(s);
	r = renameat(dir, from, dir, to);
	return_rights();
	return r < 0 ? -errno : 0;
}

void git_source_unlink(const struct git_source *s, int dir, const char *name)
{
	take_rights(s);
	(void)unlinkat(dir, name, 0);
	return_rights();
}

int git_source_open(int top, struct git_source *ret, struct fault *f)
{
	struct git_source s = { .top = top };
	struct stat st;

	if (fstat(top, &st) < 0)
		return fault_errno(f, errno, "the worktree");
	s.uid = st.st_uid;
	s.gid = st.st_gid;
	s.git = git_source_open_dir(&s, top, ".git");
	if (s.git == -ENOENT)
		return fault_set(f, ENOENT, "the worktree is no git repository: it has no .git");
	if (s.git < 0)
		return fault_set(
			f, ENOTSUP,
			"the worktree's .git is no directory of its own: links, and linked worktrees, "
			"are not followed");
	*ret = s;
	return 0;
}

static int read_file(const struct git_source *s, int dir, const char *name, size_t max, char **ret,
		     size_t *ret_len)
{
	_cleanup_close_ int fd = git_source_open_file(s, dir, name);

	return fd < 0 ? fd : fd_read_all(fd, max, ret, ret_len, NULL);
}

/* git's own rules are wider: other names are refused, not guessed. */
static bool is_ref_name(const char *name)
{
	const size_t len = strlen(name);

	if (len == 0 || len > GIT_REF_NAME_MAX || *name == '/' || name[len - 1] == '/' || strstr(name, "//"))
		return false;
	for (const char *at = name; *at; at++) {
		if ((unsigned char)*at <= ' ' || *at == 0x7f || strchr("\\~^:?*[", *at))
			return false;
		if (*at == '.' && (at == name || at[-1] == '/' || at[1] == '.'))
			return false;
	}
	return true;
}

/* The file of a reference, one directory after the other; *RET is NULL-free text of at most GIT_REF_MAX bytes. */
static int read_loose(const struct git_source *s, const char *name, char **ret, size_t *ret_len)
{
	_cleanup_close_ int dir = -EBADF;
	char part[GIT_REF_NAME_MAX + 1];
	const char *at = name, *slash;

	while ((slash = strchr(at, '/'))) {
		int next;

		memcpy(part, at, (size_t)(slash - at));
		part[slash - at] = '\0';
		next = git_source_open_dir(s, dir < 0 ? s->git : dir, part);
		if (next < 0)
			return next;
		(void)fd_close(dir);
		dir = next;
		at = slash + 1;
	}
	return read_file(s, dir < 0 ? s->git : dir, at, GIT_REF_MAX, ret, ret_len);
}

static bool take_oid(const char *text, size_t len, char ret[GIT_OID_SIZE])
{
	char oid[GIT_OID_SIZE];

	if (len < GIT_OID_SIZE - 1)
		return false;
	memcpy(oid, text, GIT_OID_SIZE - 1);
	oid[GIT_OID_SIZE - 1] = '\0';
	if (!git_oid_is_valid(oid))
		return false;
	memcpy(ret, oid, GIT_OID_SIZE);
	return true;
}

/* Lines "OID NAME". */
static int read_packed(const struct git_source *s, const char *name, char ret[GIT_OID_SIZE], struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	const size_t name_len = strlen(name);
	size_t len;
	int r = read_file(s, s->git, "packed-refs", GIT_PACKED_REFS_MAX, &text, &len);

	if (r == -ENOENT)
		return -ENOENT;
	if (r < 0)
		return fault_set(f, -r, "the repository's packed-refs cannot be read");
	for (const char *at = text; at < text + len;) {
		const char *end = memchr(at, '\n', (size_t)(text + len - at));
		const size_t n = (size_t)((end ? end : text + len) - at);

		if (n == GIT_OID_SIZE + name_len && at[GIT_OID_SIZE - 1] == ' ' &&
		    memcmp(at + GIT_OID_SIZE, name, name_len) == 0 && take_oid(at, n, ret))
			return 0;
		at += n + 1;
	}
	return -ENOENT;
}

int git_source_read_ref(const struct git_source *s, const char *given, char ret[GIT_OID_SIZE],
			struct fault *f)
{
	_cleanup_free_ char *name = strdup(given);

	for (int depth = 0; name && depth < GIT_SYMREFS_MAX; depth++) {
		_cleanup_free_ char *text = NULL;
		size_t len;
		int r;

		if (!is_ref_name(name))
			return fault_set(f, EINVAL, "a reference of the repository has an invalid name");
		r = read_loose(s, name, &text, &len);
		if (r == -ENOENT || r == -ENOTDIR || r == -EISDIR)
			return read_packed(s, name, ret, f);
		if (r < 0)
			return fault_set(
				f, -r, "a reference of the repository is no regular file, or cannot be read");
		if ((len == GIT_OID_SIZE || len == GIT_OID_SIZE - 1) && take_oid(text, len, ret))
			return 0;
		if (!str_starts(text, "ref: refs/"))
			return fault_set(f, EINVAL, "a reference of the repository has an unknown format");
		text[strcspn(text, "\n")] = '\0';
		free(name);
		name = strdup(text + strlen("ref: "));
	}
	return name ? fault_set(f, ELOOP, "references of the repository refer to each other")
		    : fault_errno(f, ENOMEM, "reference");
}

int git_source_find(const struct git_source *s, const char *word, char ret[GIT_OID_SIZE], struct fault *f)
{
	static const char *const below[] = { "refs/heads/", "refs/remotes/", "refs/tags/" };

	if (git_oid_is_valid(word)) {
		memcpy(ret, word, GIT_OID_SIZE);
		return 0;
	}
	if (str_eq(word, "HEAD"))
		return git_source_read_ref(s, word, ret, f);
	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		_cleanup_strbuf_ struct strbuf name = { 0 };
		int r;

		strbuf_puts(&name, str_starts(word, "refs/") ? "" : below[i]);
		strbuf_puts(&name, word);
		if (name.broken)
			return fault_errno(f, ENOMEM, "reference");
		r = git_source_read_ref(s, name.text, ret, f);
		if (r != -ENOENT)
			return r;
	}
	return -ENOENT;
}
