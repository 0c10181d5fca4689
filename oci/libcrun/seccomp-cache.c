/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/libcrun/seccomp-cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"

#define ENTRIES_MAX 64
#define FILTER_MAX (BPF_MAXINSNS * sizeof(struct sock_filter))

static int open_dir(const char *root)
{
	_cleanup_free_ char *path = path_join(root, ".seccomp");
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	if (!path)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && mkdir(path, 0700) == 0)
		fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & (S_IRWXG | S_IRWXO)))
		return -EPERM;
	return TAKE_FD(fd);
}

static bool is_filter(const char *text, size_t len)
{
	struct digest actual, stored;

	if (len <= sizeof(stored) || (len - sizeof(stored)) % sizeof(struct sock_filter) != 0)
		return false;
	memcpy(stored.bytes, text, sizeof(stored.bytes));
	digest_bytes(text + sizeof(stored), len - sizeof(stored), &actual);
	return digest_equal(&actual, &stored);
}

int seccomp_cache_load(const char *root, const struct digest *key, char **ret, size_t *ret_len)
{
	_cleanup_close_ int dir = open_dir(root), fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	char name[DIGEST_HEX_SIZE];
	size_t len;

	if (dir < 0)
		return dir;
	digest_to_hex(key, name);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fd_require_private(fd, geteuid(), NULL) < 0 ||
	    fd_read_all(fd, DIGEST_SIZE + FILTER_MAX, &text, &len, NULL) < 0 || !is_filter(text, len))
		return -EBADMSG;
	*ret_len = len - DIGEST_SIZE;
	memmove(text, text + DIGEST_SIZE, *ret_len);
	*ret = TAKE_PTR(text);
	return 0;
}

/* Filters differ by image and engine options, not by container: a larger number is caused by generated profiles. */
static void make_room(int dir)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;
	size_t n = 0;

	if (!d) {
		(void)fd_close(copy);
		return;
	}
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	if (n >= ENTRIES_MAX) {
		rewinddir(d);
		while ((e = readdir(d)))
			if (e->d_name[0] != '.')
				(void)unlinkat(dir, e->d_name, 0);
	}
	(void)closedir(d);
}

void seccomp_cache_store(const char *root, const struct digest *key, const void *bytes, size_t len)
{
	_cleanup_close_ int dir = open_dir(root), fd = -EBADF;
	char name[DIGEST_HEX_SIZE], temp[DIGEST_HEX_SIZE + 16];
	struct digest own;

	if (dir < 0 || len == 0 || len > FILTER_MAX)
		return;
	make_room(dir);
	digest_to_hex(key, name);
	digest_bytes(bytes, len, &own);
	(void)snprintf(temp, sizeof(temp), ".%s.%d", name, (int)getpid());
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (fd_write_all(fd, own.bytes, sizeof(own.bytes), NULL) < 0 ||
	    fd_write_all(fd, bytes, len, NULL) < 0 || renameat(dir, temp, dir, name) < 0)
		(void)unlinkat(dir, temp, 0);
}
