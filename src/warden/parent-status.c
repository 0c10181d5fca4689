/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/parent-status.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "parent/parent-proto.h"

bool parent_status_read(int *fd, int timeout_ms, int *ret)
{
	struct pollfd p = { .fd = *fd, .events = POLLIN };
	struct parent_word word;
	ssize_t n;
	int r;

	if (*fd < 0)
		return false;
	do
		r = poll(&p, 1, timeout_ms);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return false;
	do
		n = recv(*fd, &word, sizeof(word), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	parent_status_release(fd);
	if (n != (ssize_t)sizeof(word))
		return false;
	*ret = word.value;
	return true;
}

void parent_status_release(int *fd)
{
	/* Processes that were forked meanwhile have copies. */
	if (*fd >= 0)
		(void)shutdown(*fd, SHUT_RDWR);
	*fd = fd_close(*fd);
}
