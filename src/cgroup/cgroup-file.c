/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroup/cgroup-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

int cgroup_file_write(int dirfd, const char *name, const char *text)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(text);
	ssize_t n;

	if (fd < 0)
		return -errno;
	/* One write is one command: a short write is not continued. */
	do
		n = write(fd, text, len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EIO;
}

int cgroup_file_read(int dirfd, const char *name, char text[CGROUP_TEXT_MAX])
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	size_t len = 0;

	if (fd < 0)
		return -errno;
	while (len < CGROUP_TEXT_MAX - 1) {
		ssize_t n = read(fd, text + len, CGROUP_TEXT_MAX - 1 - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	text[len] = '\0';
	return 0;
}

int cgroup_text_key(const char *text, const char *key, uint64_t *ret)
{
	size_t n = strlen(key);

	for (const char *line = text; *line;) {
		if (strncmp(line, key, n) == 0 && line[n] == ' ') {
			uint64_t value = 0;

			for (const char *c = line + n + 1; *c >= '0' && *c <= '9'; c++)
				value = value * 10 + (uint64_t)(*c - '0');
			*ret = value;
			return 0;
		}
		line = strchrnul(line, '\n');
		line += *line == '\n';
	}
	return -ENOENT;
}

int cgroup_text_has(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *c = text; (c = strstr(c, word)); c += n)
		if ((c == text || c[-1] == ' ' || c[-1] == '\n') &&
		    (c[n] == '\0' || c[n] == ' ' || c[n] == '\n'))
			return 1;
	return 0;
}
