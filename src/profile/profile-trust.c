/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/write-access.h"
#include "profile/profile-impl.h"

#define TRUST_SIZE_MAX ((size_t)1024 * 1024)
#define TRUST_LOCK "trust.lock" /* never removed: removal would allow two locks */

/*
 * {"schema_version": 1, "trusted": [{"path": ..., "sha256": ...}]}.  Write access to this file decides what
 * profiles of a worktree may do: only its owner may have it.  A file that cannot be read or parsed trusts
 * nothing and is an error.
 */
static int require_private(int fd, const char *path, struct fault *f)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "trust file '%s'", path);
	if (!S_ISREG(st.st_mode))
		return fault_set(f, EINVAL, "trust file '%s' is not a regular file: move it away", path);
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || write_access_is_shared(fd, &st))
		return fault_set(
			f, EPERM,
			"trust file '%s' can be changed by others: chown it to yourself and chmod go-w '%s'",
			path, path);
	return 0;
}

static int require_shape(const struct jdoc *doc, const char *path, struct fault *f)
{
	const struct jdoc *list = jdoc_get(doc, "trusted"), *version = jdoc_get(doc, "schema_version");

	if (!version || version->type != JDOC_INT || version->integer != 1 || !list ||
	    list->type != JDOC_ARRAY)
		return fault_set(
			f, EINVAL,
			"trust file '%s' is not {\"schema_version\": 1, \"trusted\": [...]}: move it away",
			path);
	for (size_t i = 0; i < list->n_items; i++)
		if (!jdoc_get_string(list->items[i], "path") || !jdoc_get_string(list->items[i], "sha256"))
			return fault_set(f, EINVAL,
					 "trust file '%s': entry %zu has no path or sha256: remove the entry",
					 path, i);
	return 0;
}

/* *RET is NULL if the file does not exist. */
static int load(const char *path, struct jdoc **ret, struct fault *f)
{
	static const struct jdoc_limits limits = { .size_max = TRUST_SIZE_MAX, .depth_max = 8 };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		*ret = NULL;
		return 0;
	}
	if (fd < 0)
		return fault_errno(f, errno, "trust file '%s'", path);
	r = require_private(fd, path, f);
	if (r < 0)
		return r;
	r = fd_read_all(fd, TRUST_SIZE_MAX, &text, &len, f);
	if (r < 0)
		return fault_wrap(f, r, "trust file '%s'", path);
	r = jdoc_parse(text, len, path, &limits, &doc, f);
	if (r == 0)
		r = require_shape(doc, path, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(doc);
	return 0;
}

int profile_trust_check(const char *trust_file, const char *path, const struct digest *digest,
			enum profile_trust *ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	enum profile_trust state = PROFILE_TRUST_NONE;
	char hex[DIGEST_HEX_SIZE];
	const struct jdoc *list;
	int r;

	r = trust_file ? load(trust_file, &doc, f) : 0;
	if (r < 0)
		return r;
	digest_to_hex(digest, hex);
	list = jdoc_get(doc, "trusted");
	for (size_t i = 0; list && i < list->n_items && state != PROFILE_TRUST_TRUSTED; i++) {
		if (!str_eq(jdoc_get_string(list->items[i], "path"), path))
			continue;
		state = str_eq(jdoc_get_string(list->items[i], "sha256"), hex) ? PROFILE_TRUST_TRUSTED
									       : PROFILE_TRUST_CHANGED;
	}
	*ret = state;
	return 0;
}

static size_t take_out(struct jdoc *list, const char *path)
{
	size_t n = 0;

	for (size_t i = list->n_items; i > 0; i--)
		if (str_eq(jdoc_get_string(list->items[i - 1], "path"), path))
			n += jdoc_remove_item(list, i - 1);
	return n;
}

static int save(int dirfd, const char *name, const struct jdoc *doc, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	int r;

	r = jdoc_write(doc, JDOC_PRETTY, &b, f);
	if (r < 0)
		return r;
	return fd_replace_file(dirfd, name, b.text, b.len, 0600, f);
}

static int change(int dirfd, const char *trust_file, const char *path, const struct digest *digest,
		  struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	char hex[DIGEST_HEX_SIZE];
	struct jdoc *entry;
	int r;

	r = load(trust_file, &doc, f);
	if (r < 0)
		return r;
	if (!doc) {
		doc = jdoc_new_object();
		if (!doc || !jdoc_set_array(doc, "trusted"))
			return fault_errno(f, ENOMEM, "trust file");
		jdoc_set_int(doc, "schema_version", 1);
	}
	if (take_out(jdoc_get(doc, "trusted"), path) == 0 && !digest)
		return fault_set(f, ENOENT, "'%s' is not in the trust file '%s'", path, trust_file);
	if (digest) {
		digest_to_hex(digest, hex);
		entry = jdoc_append_object(jdoc_get(doc, "trusted"));
		jdoc_set_string(entry, "path", path);
		jdoc_set_string(entry, "sha256", hex);
	}
	return save(dirfd, strrchr(trust_file, '/') + 1, doc, f);
}

int profile_trust_set(const char *trust_file, const char *path, const struct digest *digest, struct fault *f)
{
	const char *slash = strrchr(trust_file, '/');
	_cleanup_close_ int top = -EBADF, dirfd = -EBADF, lock = -EBADF;
	_cleanup_free_ char *dir = NULL;

	if (*trust_file != '/' || slash == trust_file)
		return fault_set(f, EINVAL, "trust file '%s': not an absolute path", trust_file);
	dir = strndup(trust_file + 1, (size_t)(slash - trust_file) - 1);
	if (!dir)
		return fault_errno(f, ENOMEM, "trust file '%s'", trust_file);
	top = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return fault_errno(f, errno, "trust file '%s'", trust_file);
	dirfd = path_make_dirs(top, dir, 0755, f);
	if (dirfd < 0)
		return fault_wrap(f, dirfd, "directory of trust file '%s'", trust_file);
	/*
	 * Two concurrent writers must not lose each other's entry.  Not the directory: every user may open
	 * and lock that.
	 */
	lock = openat(dirfd, TRUST_LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		return fault_errno(f, errno, "lock '" TRUST_LOCK "' beside '%s'", trust_file);
	return change(dirfd, trust_file, path, digest, f);
}
