/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-parent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/pidfd-status.h"
#include "parent/parent-proto.h"

int runtime_parent_open(struct runtime_parent *p, const char *program, struct fault *f)
{
	int pair[2];

	if (pidfd_end_supported())
		return 0;
	if (program && access(program, X_OK) < 0)
		return fault_errno(f, errno, "custody-parent at '%s': run 'make install'", program);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fault_errno(f, errno, "socket of custody-parent");
	p->near = pair[0];
	p->far = pair[1];
	if (program && pipe2(p->done, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "custody-parent");
	p->program = program;
	return 0;
}

int runtime_parent_begin(const struct runtime_parent *p, struct fault *f)
{
	if (p->program && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return fault_errno(f, errno, "become the subreaper of the container");
	return 0;
}

void runtime_parent_become(const struct runtime_parent *p)
{
	char *argv[] = { (char *)"custody-parent", NULL }, *env[] = { NULL };

	/* libcrun changes it. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	/* Engines wait for the end of file of their pipes: they must be closed before custody-runtime exits. */
	if (dup2(p->far, STDIN_FILENO) == STDIN_FILENO &&
	    dup3(p->done[1], STDOUT_FILENO, O_CLOEXEC) == STDOUT_FILENO &&
	    syscall(SYS_close_range, STDERR_FILENO, UINT_MAX, 0) == 0 && write(STDOUT_FILENO, "d", 1) == 1)
		(void)execve(p->program, argv, env);
	/* The engine is the parent then, as on newer kernels. */
	_exit(EXIT_SUCCESS);
}

void runtime_parent_forked(struct runtime_parent *p)
{
	p->far = fd_close(p->far);
	p->done[1] = fd_close(p->done[1]);
}

bool runtime_parent_stays(struct runtime_parent *p)
{
	char byte;
	ssize_t n;

	do
		n = read(p->done[0], &byte, 1);
	while (n < 0 && errno == EINTR);
	p->done[0] = fd_close(p->done[0]);
	return n == 1;
}

void runtime_parent_report(const struct runtime_parent *p, int status)
{
	const struct parent_word word = { .value = status };

	if (p->far >= 0)
		(void)send(p->far, &word, sizeof(word), MSG_NOSIGNAL);
}

int runtime_parent_tell(const struct runtime_parent *p, pid_t pid, struct fault *f)
{
	const struct parent_word word = { .value = pid };

	if (p->program && send(p->near, &word, sizeof(word), MSG_NOSIGNAL) != (ssize_t)sizeof(word))
		return fault_errno(f, errno, "custody-parent");
	return 0;
}

void runtime_parent_done(struct runtime_parent *p)
{
	runtime_parent_forked(p);
	p->near = fd_close(p->near);
	p->done[0] = fd_close(p->done[0]);
	p->program = NULL;
}
