/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-dir.h"

#include <fcntl.h>
#include <string.h>

#include "init/init-rt.h"

/* An entry of getdents64; glibc's struct dirent64 has the same layout but declares a name of 256 bytes. */
struct entry {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

long dir_each(const char *path, bool (*each)(void *arg, const char *name, int dir), void *arg)
{
	_Alignas(struct entry) char buffer[2048];
	bool going = true;
	long dir, n;

	dir = SYS(openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return dir;
	while (going && (n = SYS(getdents64, dir, buffer, sizeof(buffer))) > 0) {
		for (long at = 0; going && at < n;) {
			const struct entry *e = (const struct entry *)(const void *)(buffer + at);

			if (strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0)
				going = each(arg, e->name, (int)dir);
			at += e->reclen;
		}
	}
	(void)SYS(close, dir);
	if (!going)
		return 0;
	return n < 0 ? n : 1;
}
