/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/call-filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <nettle/base64.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/str.h"
#include "tap.h"

#define NOT_A_PROGRAM "the system call filter is not a BPF program"

static char *encode(const void *bytes, size_t len)
{
	char *text = malloc(BASE64_ENCODE_RAW_LENGTH(len) + 1);

	base64_encode_raw(text, len, bytes);
	text[BASE64_ENCODE_RAW_LENGTH(len)] = '\0';
	return text;
}

/* EXDEV for getppid, everything else is allowed. */
static char *encode_refusal(void)
{
	static const struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return encode(program, sizeof(program));
}

/* The filter cannot be taken off again, so each one is installed in a child: 0, or the errno of what it saw. */
static int install_in_child(const char *text, const char *message)
{
	pid_t pid;
	int status;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		_cleanup_fault_ struct fault f = { 0 };
		int r = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : call_filter_install(text, &f);

		if (r < 0)
			_exit(str_eq(fault_text(&f), message) && prctl(PR_GET_SECCOMP) == 0 ? -r : 255);
		_exit(syscall(SYS_getppid) < 0 ? errno : 0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_filter_is_active(void)
{
	_cleanup_free_ char *text = encode_refusal();

	CHECK(install_in_child(text, "") == EXDEV);
}

static void other_text_installs_nothing(void)
{
	static const char bytes[sizeof(struct sock_filter)];
	_cleanup_free_ char *part = encode(bytes, sizeof(bytes) - 1), *refusal = encode_refusal();

	CHECK(install_in_child("", NOT_A_PROGRAM) == EINVAL);
	CHECK(install_in_child("not base64!", NOT_A_PROGRAM) == EINVAL);
	CHECK(install_in_child(part, NOT_A_PROGRAM) == EINVAL);
	/* Without its last character the text ends in the middle of a byte. */
	refusal[strcspn(refusal, "=") - 1] = '\0';
	CHECK(install_in_child(refusal, NOT_A_PROGRAM) == EINVAL);
}

/* The kernel's count has 16 bits: a program of 65536 + 4 instructions must not become its first four. */
static void a_long_program_is_not_cut(void)
{
	static struct sock_filter program[65536 + 4];
	_cleanup_free_ char *text = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(program); i++)
		program[i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	text = encode(program, sizeof(program));
	CHECK(install_in_child(text, NOT_A_PROGRAM) == EINVAL);
}

TAP_MAIN(T(the_filter_is_active), T(other_text_installs_nothing), T(a_long_program_is_not_cut))
