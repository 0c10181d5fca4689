/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/worktree-secrets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/dir.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define SECRETS_MAX 128		  /* custody-init takes 256 hidden paths */
#define KEY_MAX ((size_t)1 << 20) /* a longer file is hidden unread */
#define KEY_TEXT "PRIVATE KEY"

enum secret_kind {
	SECRET_FILE, /* a regular file: .env is also a usual name of a virtualenv's directory */
	SECRET_ANY,  /* a file or a directory */
	SECRET_KEY,  /* a regular file with KEY_TEXT in it */
};

/* clang-format off */
/* NAME: at the top level, in any case: .ENV is .env in a directory that ignores it; BELOW: the file in that directory; BUT: names that are no secret. */
static const struct secret {
	const char *name, *below, *but;
	enum secret_kind kind;
} secrets[] = {
	{ ".env",    NULL,          NULL,           SECRET_FILE },
	{ ".env.*",  NULL,          ".env.example", SECRET_FILE },
	{ ".netrc",  NULL,          NULL,           SECRET_FILE },
	{ ".ssh",    NULL,          NULL,           SECRET_ANY },
	{ ".aws",    NULL,          NULL,           SECRET_ANY },
	{ ".kube",   NULL,          NULL,           SECRET_ANY },
	{ ".docker", "config.json", NULL,           SECRET_FILE },
	{ "id_*",    NULL,          "*.pub",        SECRET_KEY },
	{ "*.pem",   NULL,          NULL,           SECRET_KEY },
	{ "*.key",   NULL,          NULL,           SECRET_KEY },
};

const char *const worktree_secret_patterns[] = {
	".env", ".env.* but .env.example", ".netrc", ".ssh", ".aws", ".kube", ".docker/config.json",
	"id_* but *.pub with PRIVATE KEY", "*.pem with PRIVATE KEY", "*.key with PRIVATE KEY", NULL,
};
/* clang-format on */

/* True as well if the file cannot be read whole. */
static bool has_key(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > (off_t)KEY_MAX)
		return true;
	text = malloc(KEY_MAX);
	while (text && n > 0 && len < KEY_MAX) {
		n = read(fd, text + len, KEY_MAX - len);
		len += n > 0 ? (size_t)n : 0;
	}
	return !text || n < 0 || len == KEY_MAX || memmem(text, len, KEY_TEXT, strlen(KEY_TEXT));
}

static int is_secret(const struct secret *s, const char *path, struct fault *f)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : fault_errno(f, errno, "stat '%s'", path);
	if (s->kind == SECRET_ANY)
		return S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
	return S_ISREG(st.st_mode) && (s->kind == SECRET_FILE || has_key(path));
}

/* PATH: resolved. */
static int add(const char *worktree, const char *path, char ***ret, struct fault *f)
{
	const char *rest = path + strlen(worktree) + (worktree[1] != '\0');
	_cleanup_free_ char *clean = str_escape(path);

	if (strv_has(*ret, rest))
		return 0;
	if (!clean)
		return fault_errno(f, ENOMEM, "secrets");
	if (!str_eq(clean, path))
		return fault_set(
			f, EINVAL,
			"'%s' looks like a secret and cannot be hidden, because its name has special "
			"characters: rename it, or show such files with --show-secrets",
			clean);
	if (strv_len(*ret) >= SECRETS_MAX)
		return fault_set(
			f, E2BIG,
			"more than %d files in '%s' look like secrets: move them into a directory, or "
			"show them with --show-secrets",
			SECRETS_MAX, worktree);
	return strv_append(ret, rest) < 0 ? fault_errno(f, ENOMEM, "secrets") : 0;
}

/* NAMED: also those whose path has no link. */
static int look_at(const struct secret *s, const char *worktree, const char *name, char ***ret, char ***named,
		   struct fault *f)
{
	_cleanup_free_ char *top = path_join(worktree, name),
			    *path = top && s->below ? path_join(top, s->below) : NULL, *real = NULL;
	int r;

	if (!top || (s->below && !path))
		return fault_errno(f, ENOMEM, "secrets");
	real = realpath(path ? path : top, NULL);
	if (!real && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return 0;
	if (!real)
		return fault_errno(f, errno, "secrets of the worktree: '%s'", path ? path : top);
	if (!path_is_below(real, worktree) || str_eq(real, worktree))
		return 0;
	r = is_secret(s, real, f);
	if (r <= 0)
		return r;
	r = add(worktree, real, ret, f);
	return r < 0 || !str_eq(real, path ? path : top) ? r : add(worktree, real, named, f);
}

/* Neither the name nor a part of it is a link. */
static int look_at_plain(const struct secret *s, const char *tree, const char *name, char ***ret,
			 char ***named, struct fault *f)
{
	_cleanup_free_ char *top = path_join(tree, name),
			    *path = top && s->below ? path_join(top, s->below) : NULL;
	struct stat st;
	int r;

	if (!top || (s->below && !path))
		return fault_errno(f, ENOMEM, "secrets");
	if (lstat(top, &st) < 0 || (s->below && !S_ISDIR(st.st_mode)))
		return 0;
	(void)named;
	r = is_secret(s, path ? path : top, f);
	return r > 0 ? add(tree, path ? path : top, ret, f) : r;
}

static bool matches(const struct secret *s, const char *name)
{
	return fnmatch(s->name, name, FNM_CASEFOLD) == 0 &&
	       !(s->but && fnmatch(s->but, name, FNM_CASEFOLD) == 0);
}

static int find(const char *worktree,
		int (*look)(const struct secret *s, const char *tree, const char *name, char ***ret,
			    char ***named, struct fault *f),
		char ***ret, char ***named, struct fault *f)
{
	_cleanup_dir_ DIR *dir = opendir(worktree);
	struct dirent *e;
	int r = 0;

	if (!dir)
		return fault_errno(f, errno, "open '%s'", worktree);
	errno = 0;
	while (r == 0 && (e = readdir(dir))) {
		for (size_t i = 0; r == 0 && i < ARRAY_SIZE(secrets); i++)
			if (matches(&secrets[i], e->d_name))
				r = look(&secrets[i], worktree, e->d_name, ret, named, f);
		errno = 0;
	}
	if (r == 0 && errno)
		r = fault_errno(f, errno, "read '%s'", worktree);
	return r;
}

int worktree_secrets_find(const char *worktree, char ***ret, char ***named, struct fault *f)
{
	return find(worktree, look_at, ret, named, f);
}

int worktree_secrets_find_plain(const char *tree, char ***ret, struct fault *f)
{
	return find(tree, look_at_plain, ret, NULL, f);
}
