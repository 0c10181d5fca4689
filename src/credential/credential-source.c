/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "base/trusted-path.h"
#include "credential/credential-answer.h"
#include "credential/credential-impl.h"

#define SYSTEMD_DIR_ENV "CREDENTIALS_DIRECTORY"

int credential_check_value(const char *bytes, size_t len, struct fault *f)
{
	if (len < CREDENTIAL_VALUE_MIN)
		return fault_set(f, EINVAL, "the value has %zu bytes; it needs at least %d", len,
				 CREDENTIAL_VALUE_MIN);
	if (len > CREDENTIAL_VALUE_MAX)
		return fault_set(f, EMSGSIZE, "the value has more than %d bytes", CREDENTIAL_VALUE_MAX);
	if (memchr(bytes, '\0', len))
		return fault_set(f, EINVAL, "the value contains a NUL");
	return 0;
}

int credential_open_trusted(const char *path, char **ret_real, struct fault *f)
{
	_cleanup_free_ char *real = NULL;
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r;

	r = trusted_path_resolve(path, &real, f);
	if (r < 0)
		return r;
	fd = open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(f, errno, "open '%s'", path);
	if (!S_ISREG(st.st_mode))
		return fault_set(f, EINVAL, "'%s' is not a regular file", path);
	if (ret_real)
		*ret_real = TAKE_PTR(real);
	return TAKE_FD(fd);
}

int credential_check_source(const struct credential_info *i, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;

	if (i->kind == CREDENTIAL_VALUE)
		return 0;
	if (i->kind == CREDENTIAL_SYSTEMD)
		return credential_name_is_valid(i->source) ? 0
							   : fault_set(f, EINVAL,
								       "systemd's credential must have a "
								       "name of a-z, 0-9, '.', '_' and '-'");
	fd = credential_open_trusted(i->source, NULL, f);
	return fd < 0 ? fd : 0;
}

static int read_value(int fd, const char *what, struct secret **ret, struct fault *f)
{
	int r = secret_read(fd, CREDENTIAL_VALUE_MAX, ret, f);

	return r < 0 ? fault_wrap(f, r, "'%s'", what) : 0;
}

static int load_file(const char *path, struct secret **ret, struct fault *f)
{
	_cleanup_close_ int fd = credential_open_trusted(path, NULL, f);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "'%s'", path);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return fault_set(f, EPERM, "'%s' can be read by other users: chmod 600 '%s'", path, path);
	return read_value(fd, path, ret, f);
}

/* systemd gives access by an ACL, which shows as a group bit: only write access is checked. */
static int load_systemd(const char *name, struct secret **ret, struct fault *f)
{
	const char *dir = getenv(SYSTEMD_DIR_ENV);
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -EBADF;

	if (!dir || dir[0] != '/')
		return fault_set(f, ENOENT,
				 "no credential '%s' of systemd: " SYSTEMD_DIR_ENV
				 " is not set; start this from a unit with LoadCredential=%s:PATH",
				 name, name);
	path = path_join(dir, name);
	if (!path)
		return fault_errno(f, ENOMEM, "'%s'", name);
	fd = credential_open_trusted(path, NULL, f);
	return fd < 0 ? fd : read_value(fd, path, ret, f);
}

static int load_exec(const struct credential_info *i, struct credential_loaded *ret, struct fault *f)
{
	_cleanup_secret_ struct secret *text = NULL;
	_cleanup_free_ char *real = NULL;
	_cleanup_close_ int fd = credential_open_trusted(i->source, &real, f);
	int r;

	if (fd < 0)
		return fd;
	/* The real path: a link on the way may be in a directory that others can write. */
	r = credential_exec(real, i->name, CREDENTIAL_EXEC_MS, &text, f);
	if (r == 0)
		r = credential_answer_parse(secret_bytes(text), secret_len(text), &ret->value,
					    &ret->expires_us, f);
	return r < 0 ? fault_wrap(f, r, "'%s'", i->source) : 0;
}

static int load_stored(const struct dirs *d, const char *name, struct secret **ret, struct fault *f)
{
	_cleanup_credential_info_ struct credential_info i = { 0 };
	_cleanup_close_ int dirfd = credential_store_open(d, false, f);
	int r;

	if (dirfd == -ENOENT)
		return fault_set(f, ENOENT, "no credential '%s' in lane '%s'", name, lane_name(d->lane));
	r = dirfd < 0 ? dirfd : credential_file_read(dirfd, name, d->lane, &i, ret, f);
	if (r == 0 && !*ret)
		return fault_set(f, EAGAIN, "credential '%s' has just been changed: retry", name);
	return r;
}

/* Into as few pages as it needs: a limit of 64 KiB of locked memory is common. */
static int shrink(struct secret **s, struct fault *f)
{
	struct secret *small = NULL;
	int r = secret_new(secret_len(*s), &small, f);

	if (r == 0)
		r = secret_add(small, secret_bytes(*s), secret_len(*s), f);
	if (r < 0) {
		secret_free(small);
		return r;
	}
	secret_free(*s);
	*s = small;
	return 0;
}

int credential_load(const struct dirs *d, const struct credential_info *i, struct credential_loaded *ret,
		    struct fault *f)
{
	struct credential_loaded l = { 0 };
	int r = -EINVAL;

	switch (i->kind) {
	case CREDENTIAL_NONE:
	case _CREDENTIAL_KIND_MAX:
		r = fault_set(f, EINVAL, "no kind");
		break;
	case CREDENTIAL_VALUE:
		r = load_stored(d, i->name, &l.value, f);
		break;
	case CREDENTIAL_FILE:
		r = load_file(i->source, &l.value, f);
		break;
	case CREDENTIAL_SYSTEMD:
		r = load_systemd(i->source, &l.value, f);
		break;
	case CREDENTIAL_EXEC:
		r = load_exec(i, &l, f);
		break;
	}
	if (r == 0 && i->kind != CREDENTIAL_EXEC)
		secret_cut_line_end(l.value);
	if (r == 0)
		r = credential_check_value(secret_bytes(l.value), secret_len(l.value), f);
	if (r == 0)
		r = shrink(&l.value, f);
	if (r < 0) {
		secret_free(l.value);
		return fault_wrap(f, r, "credential '%s'", i->name);
	}
	*ret = l;
	return 0;
}
