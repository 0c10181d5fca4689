/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What custody-hook is measured against, and how it gets its state.
 *
 *	hook-base FILE			appends a record's worth of bytes and waits for the disk: an empty static process
 *	hook-base STATE COMMAND...	becomes COMMAND with STATE as its stdin
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
	if (argc > 2) {
		fd = open(argv[1], O_RDONLY);
		if (fd < 0 || dup2(fd, 0) < 0)
			return 1;
		execv(argv[2], argv + 2);
		return 1;
	}
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
	return fd < 0 || write(fd, line, sizeof(line)) != (ssize_t)sizeof(line) || fdatasync(fd) < 0;
}
