/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-rt.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/exit-status.h"
#include "parent/parent-proto.h"

/* custody-parent: custody-runtime's child that called libcrun, after it has executed this.  src/parent/parent-proto.h */
#define SOCKET 0
#define CORE_DUMPED 0x80 /* of a wait status */

static int32_t make_status(const siginfo_t *i)
{
	if (i->si_code == CLD_EXITED)
		return (i->si_status & 0xff) << 8;
	return i->si_status | (i->si_code == CLD_DUMPED ? CORE_DUMPED : 0);
}

/* Other children: what libcrun left, and orphans of a container that shares our PID namespace. */
static bool wait_for(int32_t pid, int32_t *ret)
{
	for (;;) {
		siginfo_t i = { 0 };
		long r = SYS(waitid, P_ALL, 0, &i, WEXITED | WNOWAIT | __WALL, NULL);

		if (r == -EINTR)
			continue;
		if (r < 0)
			return false;
		if (i.si_pid == pid) {
			*ret = make_status(&i);
			return true;
		}
		(void)SYS(wait4, i.si_pid, NULL, __WALL, NULL);
	}
}

static long receive(void *buffer, size_t size)
{
	long n;

	do
		n = SYS(recvfrom, SOCKET, buffer, size, 0, NULL, NULL);
	while (n == -EINTR);
	return n;
}

/* Engines signal whole sessions and process groups; the container's parent must not be ended by a signal for others. */
static void protect(void)
{
	const uint64_t all = UINT64_MAX;

	(void)SYS(rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
	(void)SYS(setsid);
	(void)SYS(chdir, "/");
	(void)SYS(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
	(void)SYS(prctl, PR_SET_NAME, "custody-parent", 0, 0, 0);
}

int init_main(int argc, char **argv, char **envp)
{
	struct parent_word pid, status;

	(void)argc, (void)argv, (void)envp;
	protect();
	if (receive(&pid, sizeof(pid)) != (long)sizeof(pid))
		return STATUS_OK;
	if (wait_for(pid.value, &status.value) &&
	    SYS(sendto, SOCKET, &status, sizeof(status), MSG_NOSIGNAL) > 0)
		(void)receive(&pid, sizeof(pid));
	return STATUS_OK;
}
