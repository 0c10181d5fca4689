/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/filter-record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

#define RECORD_MAX 8192 /* of the kernel: CONSOLE_EXT_LOG_MAX */

int filter_record_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		(void)lseek(fd, 0, SEEK_END);
	return fd;
}

/*
 * "6,1234,5678,-;audit: type=1326 audit(...): auid=N uid=N gid=N ses=N pid=N comm="..." exe="..." sig=31 ...".  A process
 * chooses its comm, which follows uid, but its quotes are escaped by the kernel, and processes cannot write a record that
 * starts with "audit:": theirs have a prefix of the kernel's, and only root can write to the log.
 */
static bool is_of(const char *record, uid_t first, unsigned int n)
{
	const char *text = strchr(record, ';');
	uint64_t id;

	if (!text || !str_starts(text + 1, "audit: type=1326 "))
		return false;
	if (str_find_u64(text, " uid=", &id) < 0 || !strstr(text, " sig=31 "))
		return false;
	return id >= first && id - first < n;
}

bool filter_record_find(int fd, uid_t first, unsigned int n)
{
	char record[RECORD_MAX + 1];
	bool found = false;

	while (fd >= 0 && !found) {
		ssize_t len = read(fd, record, RECORD_MAX);

		/* EPIPE: older records were overwritten; the next read continues with the oldest one. */
		if (len < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (len <= 0)
			break;
		record[len] = '\0';
		found = is_of(record, first, n);
	}
	return found;
}
