/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/str.h"
#include "bpf-judge.h"
#include "layer/layer.h"
#include "oci/seccomp/seccomp-program.h"
#include "oci/seccomp/seccomp-table.h"
#include "oci/seccomp/seccomp.h"
#include "tap.h"

#define X32_BIT 0x40000000

static uint32_t judge_call(const struct program *p, int nr, uint64_t a0, uint64_t a1, uint64_t a2,
			   uint64_t a3)
{
	struct seccomp_data d = { .nr = nr,
				  .arch = seccomp_arch_native(),
				  .args = { a0, a1, a2, a3, 77, 78 } };

	return judge(p, &d);
}

static struct program *variant(int i)
{
	static struct program programs[SECCOMP_VARIANTS];

	if (!programs[i].len)
		decode(seccomp_programs[i], &programs[i]);
	return &programs[i];
}

#define BASE 0
#define NO_SETID 1
#define KILL 2

/* valgrind makes system calls of its own in the child's name. */
static bool is_emulated(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
}

/* In a child under variant I: the errno of one call, 0 when it passed, 1000 + signal when the child died. */
static int try_call(int i, long nr, long a0, long a1, long a2, long a3)
{
	struct program *p = variant(i);
	struct sock_fprog prog = { .len = p->len, .filter = p->insns };
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
			_exit(255);
		errno = 0;
		_exit(syscall(nr, a0, a1, a2, a3, 0, 0) == -1 ? errno : 0);
	}
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void every_denied_call_answers_eperm_and_dies_in_the_kill_variant(void)
{
	for (size_t i = 0; seccomp_denied[i]; i++) {
		int nr = seccomp_syscall_resolve_name(seccomp_denied[i]);

		if (nr < 0)
			continue;
		CHECK(judge_call(variant(BASE), nr, 1, 2, 3, 4) == ERRNO(EPERM));
		CHECK(judge_call(variant(NO_SETID), nr, 1, 2, 3, 4) == ERRNO(EPERM));
		CHECK(judge_call(variant(KILL), nr, 1, 2, 3, 4) == SECCOMP_RET_KILL_PROCESS);
	}
}

static void every_allowed_call_passes_in_every_variant(void)
{
	for (size_t i = 0; seccomp_allowed[i]; i++) {
		int nr = seccomp_syscall_resolve_name(seccomp_allowed[i]);

		for (int v = 0; nr >= 0 && v < SECCOMP_VARIANTS; v++)
			CHECK(judge_call(variant(v), nr, 1, 2, 3, 4) == SECCOMP_RET_ALLOW);
	}
}

static void no_call_is_in_two_lists(void)
{
	for (size_t i = 0; seccomp_denied[i]; i++)
		for (size_t k = 0; seccomp_allowed[k]; k++)
			CHECK(strcmp(seccomp_denied[i], seccomp_allowed[k]) != 0);
	for (const struct seccomp_rule *r = seccomp_rules; r->name; r++)
		for (size_t k = 0; seccomp_allowed[k]; k++)
			CHECK(strcmp(r->name, seccomp_allowed[k]) != 0);
}

static void unknown_numbers_answer_enosys_in_every_variant(void)
{
	for (int v = 0; v < SECCOMP_VARIANTS; v++)
		for (int nr = 480; nr < 2000; nr++)
			CHECK(judge_call(variant(v), nr, 0, 0, 0, 0) == ERRNO(ENOSYS));
	CHECK(is_emulated() || try_call(BASE, 1999, 0, 0, 0, 0) == ENOSYS);
}

/* fs.aio-max-nr counts for the whole machine; the other calls are harmless without a context. */
static void no_variant_allows_contexts_of_aio(void)
{
	unsigned long context = 0;

	for (int v = 0; v < SECCOMP_VARIANTS; v++) {
		CHECK(judge_call(variant(v), SYS_io_setup, 1, 2, 3, 4) == ERRNO(ENOSYS));
		CHECK(judge_call(variant(v), SYS_io_submit, 1, 2, 3, 4) == SECCOMP_RET_ALLOW);
	}
	CHECK(is_emulated() || try_call(BASE, SYS_io_setup, 1, (long)&context, 0, 0) == ENOSYS);
}

static void ISO_2_each_class_of_denied_call_fails_in_a_real_process(void)
{
	/* clang-format off */
	static const struct { long nr, a0, a1, a2; } calls[] = {
		{ SYS_mount, 0, 0, 0 }, { SYS_umount2, 0, 0, 0 }, { SYS_pivot_root, 0, 0, 0 }, { SYS_chroot, 0, 0, 0 },
		{ SYS_unshare, CLONE_NEWUSER, 0, 0 }, { SYS_setns, 0, 0, 0 }, { SYS_ptrace, 0, 0, 0 },
		{ SYS_process_vm_readv, 0, 0, 0 }, { SYS_bpf, 0, 0, 0 }, { SYS_perf_event_open, 0, 0, 0 },
		{ SYS_userfaultfd, 0, 0, 0 }, { SYS_io_uring_setup, 1, 0, 0 }, { SYS_keyctl, 0, 0, 0 },
		{ SYS_add_key, 0, 0, 0 }, { SYS_kexec_load, 0, 0, 0 }, { SYS_finit_module, 0, 0, 0 },
		{ SYS_reboot, 0, 0, 0 }, { SYS_syslog, 10, 0, 0 }, { SYS_open_by_handle_at, 0, 0, 0 },
		{ SYS_name_to_handle_at, 0, 0, 0 }, { SYS_clock_settime, 0, 0, 0 }, { SYS_sethostname, 0, 0, 0 },
		{ SYS_quotactl, 0, 0, 0 }, { SYS_swapon, 0, 0, 0 }, { SYS_acct, 0, 0, 0 }, { SYS_fsopen, 0, 0, 0 },
		{ SYS_open_tree, 0, 0, 0 }, { SYS_move_mount, 0, 0, 0 }, { SYS_personality, 0x40000, 0, 0 },
		{ SYS_ioctl, 0, TIOCSTI, 0 }, { SYS_ioctl, 0, TIOCLINUX, 0 },
	};
	/* clang-format on */

	for (size_t i = 0; !is_emulated() && i < ARRAY_SIZE(calls); i++) {
		CHECK(try_call(BASE, calls[i].nr, calls[i].a0, calls[i].a1, calls[i].a2, 0) == EPERM);
		CHECK(try_call(KILL, calls[i].nr, calls[i].a0, calls[i].a1, calls[i].a2, 0) == 1000 + SIGSYS);
	}
}

static void ISO_2_clone_makes_no_namespace_and_clone3_does_not_exist(void)
{
	static const uint64_t flags[] = { CLONE_NEWNS,	 CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
					  CLONE_NEWUSER, CLONE_NEWPID,	  CLONE_NEWNET };

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		CHECK(judge_call(variant(BASE), SYS_clone, flags[i] | SIGCHLD, 0, 0, 0) == ERRNO(EPERM));
		CHECK(judge_call(variant(KILL), SYS_clone, flags[i], 0, 0, 0) == SECCOMP_RET_KILL_PROCESS);
	}
	CHECK(is_emulated() || try_call(BASE, SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0) == EPERM);
	CHECK(judge_call(variant(BASE), SYS_clone, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND, 0, 0, 0) ==
	      SECCOMP_RET_ALLOW);
	CHECK(judge_call(variant(KILL), SYS_clone3, 0, 0, 0, 0) == ERRNO(ENOSYS));
	CHECK(is_emulated() || try_call(BASE, SYS_clone3, 0, 0, 0, 0) == ENOSYS);
}

static void ISO_2_foreign_architectures_kill_the_process(void)
{
	struct seccomp_data d = { .nr = SYS_getpid, .arch = AUDIT_ARCH_I386 };

	for (int v = 0; v < SECCOMP_VARIANTS; v++)
		CHECK(judge(variant(v), &d) == SECCOMP_RET_KILL_PROCESS);
#ifdef __x86_64__
	for (int v = 0; v < SECCOMP_VARIANTS; v++)
		CHECK(judge_call(variant(v), X32_BIT | SYS_getpid, 0, 0, 0, 0) == SECCOMP_RET_KILL_PROCESS);
	CHECK(is_emulated() || try_call(BASE, X32_BIT | SYS_getpid, 0, 0, 0, 0) == 1000 + SIGSYS);
#endif
}

#ifdef __x86_64__
/* int 0x80 enters the 32-bit table, where number 20 is getpid and 11 is execve. */
static int try_int80(void)
{
	struct program *p = variant(BASE);
	struct sock_fprog prog = { .len = p->len, .filter = p->insns };
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		long ret;

		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
			_exit(255);
		__asm__ volatile("int $0x80" : "=a"(ret) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}
#else
static int try_int80(void)
{
	return SIGSYS; /* no such gate */
}
#endif

static void ISO_2_int_0x80_ends_the_process(void)
{
	int sig = is_emulated() ? SIGSYS : try_int80();

	/* A kernel without 32-bit emulation has no such gate at all. */
	CHECK(sig == SIGSYS || sig == SIGSEGV);
}

static void only_harmless_socket_families_exist(void)
{
	for (uint64_t family = 0; family < 64; family++) {
		bool good =
			family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
		uint32_t want = good ? SECCOMP_RET_ALLOW : ERRNO(EAFNOSUPPORT);

		for (int v = 0; v < SECCOMP_VARIANTS; v++)
			CHECK(judge_call(variant(v), SYS_socket, family, SOCK_DGRAM, 0, 0) == want);
	}
	CHECK(judge_call(variant(BASE), SYS_socket, UINT64_C(1) << 32 | AF_ALG, 0, 0, 0) ==
	      ERRNO(EAFNOSUPPORT));
	CHECK(is_emulated() || try_call(BASE, SYS_socket, AF_ALG, SOCK_SEQPACKET, 0, 0) == EAFNOSUPPORT);
	CHECK(is_emulated() || try_call(BASE, SYS_socket, AF_VSOCK, SOCK_STREAM, 0, 0) == EAFNOSUPPORT);
	CHECK(is_emulated() || try_call(BASE, SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0) == 0);
	CHECK(is_emulated() || try_call(BASE, SYS_socketpair, AF_INET, SOCK_STREAM, 0, 0) == EAFNOSUPPORT);
}

static void typing_into_terminals_is_refused_for_any_upper_half(void)
{
	static const uint64_t upper[] = { 0, UINT64_C(1) << 32, UINT64_C(0xffffffff) << 32 };

	for (size_t i = 0; i < ARRAY_SIZE(upper); i++) {
		CHECK(judge_call(variant(BASE), SYS_ioctl, 0, upper[i] | TIOCSTI, 0, 0) == ERRNO(EPERM));
		CHECK(judge_call(variant(BASE), SYS_ioctl, 0, upper[i] | TIOCLINUX, 0, 0) == ERRNO(EPERM));
		CHECK(judge_call(variant(BASE), SYS_ioctl, 0, upper[i] | TCGETS, 0, 0) == SECCOMP_RET_ALLOW);
		CHECK(judge_call(variant(NO_SETID | KILL), SYS_ioctl, 0, upper[i] | TIOCSTI, 0, 0) ==
		      SECCOMP_RET_KILL_PROCESS);
	}
}

static void no_process_changes_when_init_runs(void)
{
	static const uint64_t upper[] = { 0, UINT64_C(1) << 32, UINT64_C(0xffffffff) << 32 };
	static const int calls[] = { SYS_sched_setscheduler, SYS_sched_setattr, SYS_sched_setparam,
				     SYS_sched_setaffinity };
	static const uint64_t others[] = { 0, 2, 3, 1025, 4194303, 0xffffffff };

	for (size_t i = 0; i < ARRAY_SIZE(upper); i++) {
		for (size_t c = 0; c < ARRAY_SIZE(calls); c++) {
			CHECK(judge_call(variant(BASE), calls[c], upper[i] | 1, 0, 0, 0) == ERRNO(EPERM));
			CHECK(judge_call(variant(KILL), calls[c], upper[i] | 1, 0, 0, 0) ==
			      SECCOMP_RET_KILL_PROCESS);
			for (size_t o = 0; o < ARRAY_SIZE(others); o++)
				CHECK(judge_call(variant(BASE), calls[c], upper[i] | others[o], 1, 1, 1) ==
				      SECCOMP_RET_ALLOW);
		}
		for (uint64_t which = 0; which < 4; which++) {
			CHECK(judge_call(variant(BASE), SYS_setpriority, which, upper[i] | 1, 0, 0) ==
			      ERRNO(EPERM));
			CHECK(judge_call(variant(BASE), SYS_ioprio_set, which, upper[i] | 1, 0, 0) ==
			      ERRNO(EPERM));
		}
		for (uint64_t which = PRIO_PROCESS; which <= PRIO_PGRP; which++)
			CHECK(judge_call(variant(BASE), SYS_setpriority, which, upper[i] | 7, 1, 1) ==
			      SECCOMP_RET_ALLOW);
		for (uint64_t which = 1; which <= 2; which++)
			CHECK(judge_call(variant(BASE), SYS_ioprio_set, which, upper[i], 1, 1) ==
			      SECCOMP_RET_ALLOW);
		/* All processes of a user: init is one of them. */
		CHECK(judge_call(variant(BASE), SYS_setpriority, upper[i] | PRIO_USER, 0, 19, 0) ==
		      ERRNO(EPERM));
		CHECK(judge_call(variant(BASE), SYS_ioprio_set, upper[i] | 3, 0, 0, 0) == ERRNO(EPERM));
	}
}

static void a_set_id_mode_is_refused_in_a_real_process(void)
{
	CHECK(is_emulated() ||
	      try_call(NO_SETID, SYS_fchmodat, AT_FDCWD, (long)"/nonexistent", 04755, 0) == EPERM);
	CHECK(is_emulated() ||
	      try_call(NO_SETID, SYS_fchmodat, AT_FDCWD, (long)"/nonexistent", 0755, 0) == ENOENT);
}

static struct profile plain_profile(void)
{
	return (struct profile){ .layers = ~UINT32_C(0), .workspace = PROFILE_WORKSPACE_OVERLAY };
}

static uint32_t action_from(const struct jdoc *call)
{
	const char *action = jdoc_get_string(call, "action");
	const struct jdoc *err = jdoc_get(call, "errnoRet");

	if (strcmp(action, "SCMP_ACT_ALLOW") == 0)
		return SCMP_ACT_ALLOW;
	if (strcmp(action, "SCMP_ACT_KILL_PROCESS") == 0)
		return SCMP_ACT_KILL_PROCESS;
	return SCMP_ACT_ERRNO((uint32_t)err->integer);
}

/* As a runtime does it: names and conditions in the order of the document, libseccomp's default layout. */
static int compile_like_a_runtime(const struct jdoc *d, struct program *ret)
{
	const struct jdoc *calls = jdoc_get(d, "syscalls");
	const struct jdoc *def = jdoc_get(d, "defaultErrnoRet");
	scmp_filter_ctx ctx = NULL;
	int fd = memfd_create("test", MFD_CLOEXEC), r = 0;
	ssize_t n;

	(void)seccomp_api_set(3); /* the kernel's level, which valgrind does not report */
	ctx = seccomp_init(SCMP_ACT_ERRNO((uint32_t)def->integer));
	for (size_t i = 0; r == 0 && i < calls->n_items; i++) {
		const struct jdoc *names = jdoc_get(calls->items[i], "names"),
				  *args = jdoc_get(calls->items[i], "args");
		struct scmp_arg_cmp cmp = { 0 };

		if (args) {
			const struct jdoc *two = jdoc_get(args->items[0], "valueTwo");
			const char *op = jdoc_get_string(args->items[0], "op");

			cmp.arg = (unsigned int)jdoc_get(args->items[0], "index")->integer;
			cmp.op = strcmp(op, "SCMP_CMP_GE") == 0	  ? SCMP_CMP_GE
				 : strcmp(op, "SCMP_CMP_EQ") == 0 ? SCMP_CMP_EQ
								  : SCMP_CMP_MASKED_EQ;
			cmp.datum_a = (uint64_t)jdoc_get(args->items[0], "value")->integer;
			cmp.datum_b = two ? (uint64_t)two->integer : 0;
		}
		for (size_t k = 0; r == 0 && k < names->n_items; k++)
			r = seccomp_rule_add_array(ctx, action_from(calls->items[i]),
						   seccomp_syscall_resolve_name(names->items[k]->string),
						   args ? 1 : 0, &cmp);
	}
	if (r == 0)
		r = seccomp_export_bpf(ctx, fd);
	seccomp_release(ctx);
	n = pread(fd, ret->insns, sizeof(ret->insns), 0);
	close(fd);
	ret->len = n > 0 ? (unsigned short)((size_t)n / sizeof(ret->insns[0])) : 0;
	return r;
}

static bool same_answer(const struct program *a, const struct program *b, int nr, const uint64_t *args)
{
	uint32_t x = judge_call(a, nr, args[0], args[1], args[2], args[3]);
	uint32_t y = judge_call(b, nr, args[0], args[1], args[2], args[3]);

	/* config.json cannot set the action for a foreign architecture: the default kills the thread. */
	return x == y || (x == SECCOMP_RET_KILL_PROCESS && y == SECCOMP_RET_KILL_THREAD && (nr & X32_BIT));
}

static void the_names_of_a_bundle_and_the_program_of_a_run_agree(void)
{
	static const uint64_t values[] = { 0,
					   1,
					   2,
					   8,
					   10,
					   16,
					   38,
					   04755,
					   0755,
					   O_CREAT,
					   O_TMPFILE,
					   CLONE_NEWUSER,
					   TIOCSTI,
					   TIOCLINUX,
					   0x40000,
					   0xffffffff,
					   UINT64_C(0x100005412) };
	const size_t n = ARRAY_SIZE(values);
	static struct program p;

	for (int v = 0; v < SECCOMP_VARIANTS; v++) {
		_cleanup_fault_ struct fault f = { 0 };
		_cleanup_jdoc_ struct jdoc *d = NULL;
		struct profile profile = plain_profile();
		struct subject s = { .profile = &profile, .layers = profile.layers };

		profile.workspace = v & NO_SETID ? PROFILE_WORKSPACE_RW : PROFILE_WORKSPACE_OVERLAY;
		profile.seccomp_violation = v & KILL ? PROFILE_SECCOMP_KILL : PROFILE_SECCOMP_ERRNO;
		CHECK(seccomp_describe(&s, &d, &f) == 0);
		CHECK(compile_like_a_runtime(d, &p) == 0);
		CHECK(p.len > 0);
		for (int nr = 0; nr < 500; nr++)
			for (size_t i = 0; i < n; i++)
				for (size_t k = 0; k < n; k++) {
					uint64_t args[4] = { values[i], values[k], values[(i + k) % n],
							     values[(i * 7 + k) % n] };

					CHECK(same_answer(variant(v), &p, nr, args));
				}
		CHECK(same_answer(variant(v), &p, X32_BIT | 1, values));
	}
}

/* What a hook compares config.json with was written by the build. */
static void a_bundle_gets_the_filter_of_the_build(void)
{
	for (int v = 0; v < SECCOMP_VARIANTS; v++) {
		_cleanup_jdoc_ struct jdoc *config = jdoc_new_object(), *d = NULL;
		_cleanup_strbuf_ struct strbuf text = { 0 };
		_cleanup_fault_ struct fault f = { 0 };
		struct profile profile = plain_profile();
		struct subject s = { .profile = &profile, .layers = profile.layers };
		const char *at;

		profile.workspace = v & NO_SETID ? PROFILE_WORKSPACE_RW : PROFILE_WORKSPACE_OVERLAY;
		profile.seccomp_violation = v & KILL ? PROFILE_SECCOMP_KILL : PROFILE_SECCOMP_ERRNO;
		CHECK(seccomp_describe(&s, &d, &f) == 0);
		jdoc_set(jdoc_set_object(config, "linux"), "seccomp", TAKE_PTR(d));
		CHECK(jdoc_write(config, JDOC_PRETTY, &text, &f) == 0);
		at = strstr(text.text, "\"seccomp\": ");
		CHECK(at && seccomp_written(&s));
		at += strlen("\"seccomp\": ");
		CHECK(strncmp(at, seccomp_written(&s), strlen(seccomp_written(&s))) == 0);
		CHECK(strcmp(at + strlen(seccomp_written(&s)), "\n  }\n}\n") == 0);
	}
}

static void words_of_a_profile_were_not_written_by_the_build(void)
{
	char *words[] = { (char *)"ptrace", NULL };
	struct profile profile = plain_profile();
	struct subject s = { .profile = &profile, .layers = profile.layers };

	profile.seccomp_allow = words;
	CHECK(!seccomp_written(&s));
	profile.seccomp_allow = NULL;
	profile.seccomp_deny = words;
	CHECK(!seccomp_written(&s));
	profile.seccomp_deny = NULL;
	CHECK(seccomp_written(&s));
	s.layers &= ~LAYER_BIT(LAYER_SECCOMP);
	CHECK(!seccomp_written(&s));
}

static void a_profile_may_add_and_remove_calls(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_free_ char *text = NULL;
	char *allow[] = { (char *)"ptrace", (char *)"socket", (char *)"io_setup", NULL };
	char *deny[] = { (char *)"sync", (char *)"sync", (char *)"ioctl", NULL };
	struct profile profile = plain_profile();
	struct subject s = { .profile = &profile, .layers = profile.layers };
	static struct program p;

	profile.seccomp_allow = allow;
	profile.seccomp_deny = deny;
	CHECK(seccomp_encode(&s, &text, &f) == 0);
	decode(text, &p);
	CHECK(judge_call(&p, SYS_ptrace, 0, 0, 0, 0) == SECCOMP_RET_ALLOW);
	CHECK(judge_call(&p, SYS_socket, AF_ALG, 0, 0, 0) == SECCOMP_RET_ALLOW);
	CHECK(judge_call(&p, SYS_io_setup, 0, 0, 0, 0) == SECCOMP_RET_ALLOW);
	CHECK(judge_call(&p, SYS_sync, 0, 0, 0, 0) == ERRNO(EPERM));
	CHECK(judge_call(&p, SYS_ioctl, 0, TCGETS, 0, 0) == ERRNO(EPERM));
	CHECK(judge_call(&p, SYS_mount, 0, 0, 0, 0) == ERRNO(EPERM));
	CHECK(judge_call(&p, SYS_read, 0, 0, 0, 0) == SECCOMP_RET_ALLOW);
}

static void an_unknown_call_is_refused_by_name(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	char *allow[] = { (char *)"ptrcae", NULL };
	struct profile profile = plain_profile();
	struct subject s = { .profile = &profile, .layers = profile.layers };
	char *text = NULL;

	profile.seccomp_allow = allow;
	CHECK(seccomp_encode(&s, &text, &f) == -EINVAL);
	CHECK(strstr(fault_text(&f), "'ptrcae'") && strstr(fault_text(&f), "seccomp.allow"));
	CHECK(text == NULL);
}

static void no_filter_is_made_when_the_layer_is_off(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct profile profile = plain_profile();
	struct subject s = { .profile = &profile, .layers = ~LAYER_BIT(LAYER_SECCOMP) };
	struct jdoc *d = (struct jdoc *)&s;
	char *text = (char *)&s;

	CHECK(seccomp_encode(&s, &text, &f) == 0 && text == NULL);
	CHECK(seccomp_describe(&s, &d, &f) == 0 && d == NULL);
}

static void programs_stay_small(void)
{
	/* What the kernel pays at each start grows with this; see docs/design/seccomp.md. */
	for (int v = 0; v < SECCOMP_VARIANTS; v++)
		CHECK(variant(v)->len > 100 && variant(v)->len < 700);
}

TAP_MAIN(T(every_denied_call_answers_eperm_and_dies_in_the_kill_variant),
	 T(every_allowed_call_passes_in_every_variant), T(no_call_is_in_two_lists),
	 T(unknown_numbers_answer_enosys_in_every_variant), T(no_variant_allows_contexts_of_aio),
	 T(ISO_2_each_class_of_denied_call_fails_in_a_real_process),
	 T(ISO_2_clone_makes_no_namespace_and_clone3_does_not_exist),
	 T(ISO_2_foreign_architectures_kill_the_process), T(ISO_2_int_0x80_ends_the_process),
	 T(only_harmless_socket_families_exist), T(typing_into_terminals_is_refused_for_any_upper_half),
	 T(no_process_changes_when_init_runs), T(a_set_id_mode_is_refused_in_a_real_process),
	 T(the_names_of_a_bundle_and_the_program_of_a_run_agree), T(a_bundle_gets_the_filter_of_the_build),
	 T(words_of_a_profile_were_not_written_by_the_build), T(a_profile_may_add_and_remove_calls),
	 T(an_unknown_call_is_refused_by_name), T(no_filter_is_made_when_the_layer_is_off),
	 T(programs_stay_small))
