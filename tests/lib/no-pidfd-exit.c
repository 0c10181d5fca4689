/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * no-pidfd-exit CMD...: executes CMD as a kernel before Linux 6.13 would: ioctl PIDFD_GET_INFO of whatever size is ENOTTY.
 * It needs CAP_SYS_ADMIN, because no_new_privs would be inherited.
 */
#define GET_INFO 0xff0b /* type and number of the request */

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xffff),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, GET_INFO, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	if (argc < 2)
		return 64;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0) {
		perror("no-pidfd-exit: filter");
		return 125;
	}
	(void)execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
