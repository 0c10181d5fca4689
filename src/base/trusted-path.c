/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/trusted-path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/write-access.h"

static int require_trusted(int fd, const char *path, size_t len, struct fault *f)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "'%.*s'", (int)len, path);
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return fault_set(f, EPERM, "'%.*s' belongs to uid %u, neither to root nor to you", (int)len,
				 path, (unsigned int)st.st_uid);
	/* In a sticky directory only the owner of an entry can replace it. */
	if (!(S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX)) && write_access_is_shared(fd, &st))
		return fault_set(f, EPERM, "'%.*s' is writable by other users: chmod go-w '%.*s'", (int)len,
				 path, (int)len, path);
	return 0;
}

/* From / down: only then does a checked name still mean the checked file. */
static int walk_trusted(const char *real, struct fault *f)
{
	_cleanup_close_ int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *at = real + 1;
	int r = fd < 0 ? fault_errno(f, errno, "open '/'") : require_trusted(fd, "/", 1, f);

	while (r == 0 && *at) {
		size_t len = strcspn(at, "/");
		_cleanup_free_ char *name = strndup(at, len);
		int next = name ? openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;

		if (next < 0)
			return fault_errno(f, name ? errno : ENOMEM, "open '%s'", real);
		fd_close(fd);
		fd = next;
		at += len;
		r = require_trusted(fd, real, (size_t)(at - real), f);
		at += *at == '/';
	}
	return r;
}

int trusted_path_resolve(const char *path, char **ret_real, struct fault *f)
{
	_cleanup_free_ char *real = NULL;
	int r;

	if (path[0] != '/')
		return fault_set(f, EINVAL, "'%s' is not an absolute path", path);
	real = realpath(path, NULL);
	if (!real)
		return fault_errno(f, errno, "'%s'", path);
	r = walk_trusted(real, f);
	if (r == 0)
		*ret_real = TAKE_PTR(real);
	return r;
}
