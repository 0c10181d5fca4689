/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/digest-key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/path.h"
#include "state/state-version.h"

#define TEXT_SIZE (2 * DIGEST_KEY_SIZE) /* without its newline */

_Static_assert(DIGEST_KEY_SIZE == DIGEST_SIZE, "a key has the size of a digest");

void digest_key_done(struct digest_key *k)
{
	explicit_bzero(k, sizeof(*k));
}

static int parse(const char *hex, struct digest_key *ret)
{
	struct digest d;

	if (digest_from_hex(hex, &d) < 0)
		return -EINVAL;
	memcpy(ret->bytes, d.bytes, sizeof(ret->bytes));
	explicit_bzero(&d, sizeof(d));
	return 0;
}

/* A reader of the key can guess values of a digest by trial; a writer can choose the digests. */
static int require_secret(int fd, const char *path, struct fault *f)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "digest key '%s'", path);
	if (!S_ISREG(st.st_mode))
		return fault_set(f, EINVAL, "digest key '%s' is not a regular file: remove it", path);
	if (st.st_uid != geteuid())
		return fault_set(f, EPERM, "digest key '%s' belongs to uid %u: chown %u '%s'", path,
				 st.st_uid, geteuid(), path);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return fault_set(
			f, EPERM,
			"digest key '%s' can be read or written by others: chmod 600 '%s', or remove it "
			"(approvals must then be given again)",
			path, path);
	return 0;
}

static int read_key(int fd, const char *path, struct digest_key *ret, struct fault *f)
{
	char text[TEXT_SIZE + 2];
	ssize_t n;
	int r;

	do
		n = pread(fd, text, sizeof(text), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fault_errno(f, errno, "read the digest key '%s'", path);
	r = -EINVAL;
	if (n == TEXT_SIZE + 1 && text[TEXT_SIZE] == '\n') {
		text[TEXT_SIZE] = '\0';
		r = parse(text, ret);
	}
	explicit_bzero(text, sizeof(text));
	if (r < 0)
		return fault_set(f, EINVAL,
				 "digest key '%s' is not %d hex digits and a newline: restore it, or remove "
				 "it (approvals must then be given again)",
				 path, TEXT_SIZE);
	return 0;
}

/* -ENOENT without a fault if it is missing. */
static int load_file(int dirfd, const char *path, struct digest_key *ret, struct fault *f)
{
	_cleanup_close_ int fd =
		openat(dirfd, DIGEST_KEY_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int r;

	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0)
		return fault_errno(f, errno, "digest key '%s'", path);
	r = require_secret(fd, path, f);
	return r < 0 ? r : read_key(fd, path, ret, f);
}

static int write_key(int fd, struct fault *f)
{
	char text[TEXT_SIZE + 2];
	struct digest_key k;
	int r = 0;

	if (getrandom(k.bytes, sizeof(k.bytes), 0) != (ssize_t)sizeof(k.bytes))
		return fault_errno(f, errno ? errno : EIO, "random bytes");
	digest_hex(k.bytes, sizeof(k.bytes), text);
	text[TEXT_SIZE] = '\n';
	r = fd_write_all(fd, text, TEXT_SIZE + 1, f);
	if (r == 0 && fsync(fd) < 0)
		r = fault_errno(f, errno, "sync");
	digest_key_done(&k);
	explicit_bzero(text, sizeof(text));
	return r;
}

/*
 * linkat refuses a name that exists: if two processes create a key at once, one wins, and both then read the
 * winner's. No reader sees a partial key.
 */
static int make_file(int dirfd, const char *path, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	char name[64];
	uint64_t salt;
	int r;

	/* Random, not the pid: another PID namespace may share the directory. */
	if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
		return fault_errno(f, errno ? errno : EIO, "random bytes");
	(void)snprintf(name, sizeof(name), "." DIGEST_KEY_FILE ".%016llx", (unsigned long long)salt);
	fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "create the digest key '%s'", path);
	r = write_key(fd, f);
	if (r < 0)
		r = fault_wrap(f, r, "create the digest key '%s'", path);
	else if (linkat(dirfd, name, dirfd, DIGEST_KEY_FILE, 0) < 0 && errno != EEXIST)
		r = fault_errno(f, errno, "create the digest key '%s'", path);
	else if (fsync(dirfd) < 0)
		r = fault_errno(f, errno, "sync the directory of '%s'", path);
	(void)unlinkat(dirfd, name, 0);
	return r;
}

static int open_state(const struct dirs *d, bool create, struct fault *f)
{
	int fd = state_require(d, f);

	if (fd < 0)
		return fd;
	if (fd == 0)
		return create ? state_open(d, f) : -ENOENT;
	fd = open(d->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? fault_errno(f, errno, "state directory '%s'", d->state) : fd;
}

static int load_or_make(const struct dirs *d, const char *path, bool create, struct digest_key *ret,
			struct fault *f)
{
	_cleanup_close_ int dirfd = open_state(d, create, f);
	int r;

	if (dirfd < 0 && dirfd != -ENOENT)
		return dirfd;
	r = dirfd < 0 ? -ENOENT : load_file(dirfd, path, ret, f);
	if (r == -ENOENT && create) {
		r = make_file(dirfd, path, f);
		if (r == 0)
			r = load_file(dirfd, path, ret, f);
	}
	if (r == -ENOENT)
		return fault_set(f, ENOENT, "missing digest key '%s': 'custody check -- true' creates it",
				 path);
	return r;
}

int digest_key_load(const struct dirs *d, const char *configured, bool create, struct digest_key *ret,
		    struct fault *f)
{
	_cleanup_free_ char *path = NULL;

	if (configured && parse(configured, ret) < 0)
		return fault_set(
			f, EINVAL,
			"digest_key in custody.json is not %d lower-case hex digits: openssl rand -hex %d",
			TEXT_SIZE, DIGEST_KEY_SIZE);
	if (configured)
		return 0;
	path = path_join(d->state, DIGEST_KEY_FILE);
	if (!path)
		return fault_errno(f, ENOMEM, "digest key");
	return load_or_make(d, path, create, ret, f);
}
