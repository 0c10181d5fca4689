/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define SCRATCH ".probe"
#define CREATES 8
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#define ZFS_MAGIC 0x2fc12fc1

bool evidence_is_local(int fd)
{
	static const unsigned long known[] = { EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,	BTRFS_SUPER_MAGIC,
					       TMPFS_MAGIC,	 OVERLAYFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
					       ZFS_MAGIC };
	struct statfs s;

	if (fstatfs(fd, &s) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if ((unsigned long)s.f_type == known[i])
			return true;
	return false;
}

static bool make(int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd >= 0;
}

static bool takes_any_name(int dirfd)
{
	static const char *const names[] = { "a:b",	  "dot.", "sp ",  "\xff\xfe",
					     "new\nline", "Case", "case", "*?" };
	char longest[256];

	memset(longest, 'n', 255);
	longest[255] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!make(dirfd, names[i]))
			return false;
	return make(dirfd, longest);
}

static uint64_t time_creates(int dirfd)
{
	uint64_t best = UINT64_MAX;

	/* The fastest one: a busy processor slows down some of them, a share all. */
	for (char name[] = "0"; name[0] < '0' + CREATES; name[0]++) {
		uint64_t start = clock_boot_ns(), took;

		(void)make(dirfd, name);
		took = (clock_boot_ns() - start) / 1000;
		best = took < best ? took : best;
	}
	return best;
}

int evidence_probe(int dirfd, struct evidence_probe *ret, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;

	if (mkdirat(dirfd, SCRATCH, 0700) < 0)
		return fault_errno(f, errno, "create a directory for evidence");
	fd = openat(dirfd, SCRATCH, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open a directory for evidence");
	*ret = (struct evidence_probe){ .local = evidence_is_local(fd), .create_us = time_creates(fd) };
	ret->any_names = takes_any_name(fd);
	return path_remove_tree(dirfd, SCRATCH, f);
}
