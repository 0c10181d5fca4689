/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reference for custody-hook: an empty static process that appends as many bytes as one record to FILE and syncs them.
 *
 *	hook-base FILE
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char line[700];
	int fd;

	if (argc < 2)
		return 64;
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
	return fd < 0 || write(fd, line, sizeof(line)) != (ssize_t)sizeof(line) || fdatasync(fd) < 0;
}
