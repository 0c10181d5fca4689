/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"

/*
 * What an emulator of programs cannot do: prints the id of each capability that is missing, one a line.  tests/arm64/needs says
 * which unit test needs which; a test is skipped only if its capability is printed here.
 */

/* True if RUN returns true in a child. */
static bool in_child(bool (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(run() ? 0 : 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool installs_filters(void)
{
	struct sock_filter insns[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { .len = 1, .filter = insns };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool can_filter(void)
{
	return in_child(installs_filters);
}

/* struct open_how of the kernel, all zero. */
static bool can_openat2(void)
{
	uint64_t how[3] = { O_RDONLY | O_CLOEXEC };

	return syscall(SYS_openat2, AT_FDCWD, "/", how, sizeof(how)) >= 0;
}

static bool can_close_range(void)
{
	return syscall(SYS_close_range, 1000, 1001, 0) == 0;
}

static bool runs_itself(void)
{
	execl("/proc/self/exe", "probe", "--nothing", (char *)NULL);
	return false;
}

static bool can_execute(void)
{
	return in_child(runs_itself);
}

static bool makes_namespaces(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL, NULL);
	int status;

	if (pid == 0)
		_exit(0);
	return pid > 0 && waitpid((pid_t)pid, &status, 0) == pid && status == 0;
}

static bool can_make_namespaces(void)
{
	return in_child(makes_namespaces);
}

static bool can_adopt(void)
{
	return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0;
}

static bool can_tell_mounts(void)
{
	struct statx stx = { 0 };

	return statx(AT_FDCWD, "/proc", 0, STATX_MNT_ID, &stx) == 0 && stx.stx_mnt_id > 0;
}

static bool can_trace(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(1);
		(void)raise(SIGSTOP);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return false;
	return kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid;
}

/* Memory of a process by its number, here of this one. */
static bool can_read_memory(void)
{
	static const char there = 'x';
	char here = 0;
	const struct iovec to = { &here, 1 }, from = { (void *)(uintptr_t)&there, 1 };

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1 && here == there;
}

/*
 * /proc/PID/stat of the process itself is the kernel's.  An emulator that writes it gives a child the start time of its parent,
 * and most fields are 0: the process group tells.
 */
static bool can_read_own_stat(void)
{
	char text[1024] = "", *at;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC), group = 0;
	ssize_t n = read(fd, text, sizeof(text) - 1);

	(void)close(fd);
	at = n > 0 ? strrchr(text, ')') : NULL;
	return at && sscanf(at, ") %*c %*d %d", &group) == 1 && group == getpgrp();
}

/* Two descriptors in a message whose receiver has room for none: the kernel closes them. */
static bool can_drop_descriptors(void)
{
	char byte = 0, room[CMSG_SPACE(2 * sizeof(int))] = { 0 };
	struct iovec v = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	const int fds[2] = { 0, 0 };
	int pair[2], before, after;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 || sendmsg(pair[0], &m, 0) != 1)
		return false;
	before = fcntl(0, F_DUPFD_CLOEXEC, 3);
	(void)close(before);
	m.msg_controllen = CMSG_LEN(0);
	if (recvmsg(pair[1], &m, MSG_CMSG_CLOEXEC) != 1)
		return false;
	after = fcntl(0, F_DUPFD_CLOEXEC, 3);
	return before >= 0 && after == before;
}

/* Memory that no dump has: MADV_DONTDUMP, in the flags of a mapping. */
static bool can_exclude_from_dumps(void)
{
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), want[32], line[512];
	FILE *maps = fopen("/proc/self/smaps", "re");
	bool inside = false, excluded = false;

	if (page == MAP_FAILED || !maps || madvise(page, 4096, MADV_DONTDUMP) < 0)
		return false;
	(void)snprintf(want, sizeof(want), "%lx-", (unsigned long)(uintptr_t)page);
	while (fgets(line, sizeof(line), maps)) {
		inside = inside || strncmp(line, want, strlen(want)) == 0;
		if (inside && strncmp(line, "VmFlags:", 8) == 0) {
			excluded = strstr(line, " dd") != NULL;
			break;
		}
	}
	(void)fclose(maps);
	return excluded;
}

/* clang-format off */
static const struct { const char *id; bool (*has)(void); } capabilities[] = {
	{ "emulator-seccomp", can_filter },
	{ "emulator-openat2", can_openat2 },
	{ "emulator-close-range", can_close_range },
	{ "emulator-exec", can_execute },
	{ "emulator-namespaces", can_make_namespaces },
	{ "emulator-ptrace", can_trace },
	{ "emulator-scm-rights", can_drop_descriptors },
	{ "emulator-proc-stat", can_read_own_stat },
	{ "emulator-dontdump", can_exclude_from_dumps },
	{ "emulator-subreaper", can_adopt },
	{ "emulator-statx-mount", can_tell_mounts },
	{ "emulator-process-vm", can_read_memory },
};
/* clang-format on */

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++)
		if (!capabilities[i].has())
			puts(capabilities[i].id);
	return fflush(stdout) == 0 ? 0 : 1;
}
