/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/fd.h"
#include "base/str.h"

int process_start_time(pid_t pid, uint64_t *ret_start)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	char path[32], *at, *end;
	bool alive;
	size_t len;
	int r;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	r = fd_read_all(fd, 4096, &text, &len, NULL);
	if (r < 0)
		return r == -ESRCH ? 0 : r;
	/* The name in parentheses may itself contain parentheses. */
	at = strrchr(text, ')');
	if (!at || at[1] != ' ' || !at[2])
		return -EIO;
	alive = at[2] != 'Z' && at[2] != 'X';
	at += 2;
	for (int field = 3; field < 22; field++) { /* proc(5): from the state to the start */
		at = strchr(at, ' ');
		if (!at)
			return -EIO;
		at++;
	}
	end = strchr(at, ' ');
	if (end)
		*end = '\0';
	return str_to_u64(at, ret_start) < 0 ? -EIO : alive;
}

void process_init_signals(void)
{
	(void)signal(SIGCHLD, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_IGN);
}

void process_ignore_sigpipe(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
}

void process_forbid_core(void)
{
	const struct rlimit one = { 1, 1 };

	(void)setrlimit(RLIMIT_CORE, &one);
}

void process_restore_signals(void)
{
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
}
