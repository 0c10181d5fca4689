/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/process.h"
#include "cli/dispatch.h"
#include "base/exit-status.h"

/* Opens closed standard descriptors: else a file could become stdout. */
static int prepare(void)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (fd_sanitize(&f) < 0) {
		fprintf(stderr, PACKAGE_NAME ": %s\n", fault_text(&f));
		return STATUS_FAILED;
	}
	umask(022);
	process_init_signals();
	return STATUS_OK;
}

/* Has the reader of stdout closed its end, as head(1) does?  Not by errno: the write that failed may be long past. */
static bool reader_is_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	return poll(&p, 1, 0) > 0 && (p.revents & POLLERR);
}

/* A write error on stdout (full disk, closed pipe) is a failure; that of a closed pipe has no message. */
static int finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (!reader_is_gone())
		fprintf(stderr, PACKAGE_NAME ": cannot write to stdout: %s\n", strerror(errno));
	return status == STATUS_OK ? STATUS_FAILED : status;
}

int main(int argc, char **argv)
{
	int status = prepare();

	if (status != STATUS_OK)
		return status;
	return finish(dispatch_run(commands, argc, argv, stderr));
}
