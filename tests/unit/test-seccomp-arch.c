/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/array.h"
#include "base/str.h"
#include "bpf-judge.h"
#include "oci/seccomp/seccomp-describe.h"
#include "oci/seccomp/seccomp-filter.h"
#include "oci/seccomp/seccomp-program.h"
#include "oci/seccomp/seccomp-table.h"
#include "tap.h"

/*
 * The filter of every architecture, on any machine: libseccomp resolves names and compiles programs for architectures that are
 * not its own.
 */

#define X32_BIT 0x40000000
#define NR_MAX 1024
/* From here on one number is one call on all architectures, and a libseccomp may know calls that this table does not. */
#define NR_NEW 451
#define NO_CALL 0xfffffffe

#define BASE 0
#define NO_SETID 1
#define KILL 2

static const struct machine {
	uint32_t arch, audit;
	const char *name;	    /* in linux.seccomp */
	uint32_t foreign[4];	    /* audit numbers whose calls must die */
	const char *const *missing; /* listed calls that this architecture does not have */
} machines[] = {
	{ SCMP_ARCH_X86_64,
	  AUDIT_ARCH_X86_64,
	  "SCMP_ARCH_X86_64",
	  { AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64, AUDIT_ARCH_ARM, 0 },
	  (const char *const[]){ "sync_file_range2", "waitpid", "ipc", "send", "recv", "umount", "sigreturn",
				 "signal", "stime", NULL } },
	{ SCMP_ARCH_AARCH64,
	  AUDIT_ARCH_AARCH64,
	  "SCMP_ARCH_AARCH64",
	  { AUDIT_ARCH_ARM, AUDIT_ARCH_X86_64, AUDIT_ARCH_I386, AUDIT_ARCH_ARMEB },
	  (const char *const[]){ "open",     "creat", "stat",	    "lstat", "access",	   "fork",
				 "vfork",    "chmod", "chown",	    "mkdir", "unlink",	   "rename",
				 "link",     "pipe",  "dup2",	    "poll",  "select",	   "epoll_wait",
				 "getdents", "mknod", "arch_prctl", "time",  "modify_ldt", "iopl",
				 "ioperm",   NULL } },
};

static struct seccomp_choice choose(const struct machine *m, int variant)
{
	return (struct seccomp_choice){ .arch = m->arch, .no_setid = variant & 1, .kill = variant & 2 };
}

static const struct program *program_of(const struct machine *m, int variant)
{
	static struct program programs[ARRAY_SIZE(machines)][SECCOMP_VARIANTS];
	struct program *p = &programs[m - machines][variant];
	const struct seccomp_choice c = choose(m, variant);
	_cleanup_free_ char *text = NULL;

	if (!p->len && seccomp_filter_compile(&c, &text, NULL) == 0)
		decode(text, p);
	return p;
}

static uint32_t ask(const struct machine *m, int variant, int nr, uint64_t a0, uint64_t a1, uint64_t a2,
		    uint64_t a3)
{
	const struct seccomp_data d = { .nr = nr, .arch = m->audit, .args = { a0, a1, a2, a3, 77, 78 } };

	return judge(program_of(m, variant), &d);
}

static uint32_t ask_name(const struct machine *m, int variant, const char *name, uint64_t a0, uint64_t a1,
			 uint64_t a2, uint64_t a3)
{
	int nr = seccomp_syscall_resolve_name_arch(m->arch, name);

	return nr < 0 ? NO_CALL : ask(m, variant, nr, a0, a1, a2, a3);
}

static bool is_listed(const char *const *names, const char *name)
{
	return strv_has((char *const *)names, name);
}

static bool has_rule(const char *name)
{
	for (const struct seccomp_rule *r = seccomp_rules; r->name; r++)
		if (str_eq(r->name, name))
			return true;
	return false;
}

/*
 * The filter answers ENOSYS: the first two for the reasons in docs/design/seccomp.md; uprobe and uretprobe, which libseccomp names
 * since 2.6, because only code that a tracer of the host inserted may make them; the others as each kernel does.
 */
static bool is_unlisted(const char *name)
{
	static const char *const unlisted[] = { "clone3",      "io_setup",  "getpmsg",	"putpmsg",
						"afs_syscall", "tuxcall",   "security", "vserver",
						"uprobe",      "uretprobe", NULL };

	return is_listed(unlisted, name);
}

/* The answer that the table gives to a call by its name; a call with a rule has more than one. */
static uint32_t expect(const char *name, int variant)
{
	if (is_listed(seccomp_allowed, name))
		return SECCOMP_RET_ALLOW;
	if (is_listed(seccomp_denied, name))
		return variant & KILL ? SECCOMP_RET_KILL_PROCESS : ERRNO(EPERM);
	if (is_listed(seccomp_unfilterable, name))
		return variant & NO_SETID ? ERRNO(ENOSYS) : SECCOMP_RET_ALLOW;
	return ERRNO(ENOSYS);
}

static void PLAT_5_each_number_of_an_architecture_gets_the_answer_of_its_name(void)
{
	for (const struct machine *m = machines; m < machines + ARRAY_SIZE(machines); m++)
		for (int v = 0; v < SECCOMP_VARIANTS; v++) {
			int known = 0;

			for (int nr = 0; nr < NR_MAX; nr++) {
				_cleanup_free_ char *name = seccomp_syscall_resolve_num_arch(m->arch, nr);

				known += name != NULL;
				if (name && has_rule(name))
					CHECK(ask(m, v, nr, 2, 3, 4, 5) != ERRNO(ENOSYS));
				else
					CHECK(ask(m, v, nr, 2, 3, 4, 5) ==
					      (name ? expect(name, v) : ERRNO(ENOSYS)));
			}
			CHECK(known > 250);
		}
}

static void PLAT_5_no_call_of_an_architecture_is_forgotten(void)
{
	for (const struct machine *m = machines; m < machines + ARRAY_SIZE(machines); m++)
		for (int nr = 0; nr < NR_NEW; nr++) {
			_cleanup_free_ char *name = seccomp_syscall_resolve_num_arch(m->arch, nr);

			if (!name || is_listed(seccomp_allowed, name) || is_listed(seccomp_denied, name) ||
			    is_listed(seccomp_unfilterable, name) || has_rule(name))
				continue;
			if (!is_unlisted(name))
				printf("# %s: %d %s\n", m->name, nr, name);
			CHECK(is_unlisted(name));
		}
}

/* Number 2 is open on x86_64 and io_submit on arm64: a table with the numbers of another machine allows other calls. */
static void PLAT_5_a_call_that_an_architecture_lacks_adds_nothing_to_its_filter(void)
{
	for (const struct machine *m = machines; m < machines + ARRAY_SIZE(machines); m++)
		for (size_t i = 0; m->missing[i]; i++) {
			const struct seccomp_choice c = choose(m, BASE);

			/* No typing error: another architecture has it. */
			CHECK(seccomp_syscall_resolve_name(m->missing[i]) != __NR_SCMP_ERROR);
			CHECK(!seccomp_choice_has_call(&c, m->missing[i]));
			CHECK(is_listed(seccomp_allowed, m->missing[i]) ||
			      is_listed(seccomp_denied, m->missing[i]) || has_rule(m->missing[i]));
		}
}

static void PLAT_5_calls_of_other_architectures_kill_the_process(void)
{
	for (const struct machine *m = machines; m < machines + ARRAY_SIZE(machines); m++)
		for (int v = 0; v < SECCOMP_VARIANTS; v++)
			for (size_t i = 0; i < ARRAY_SIZE(m->foreign) && m->foreign[i]; i++)
				for (int nr = 0; nr < 500; nr++) {
					const struct seccomp_data d = { .nr = nr, .arch = m->foreign[i] };

					CHECK(judge(program_of(m, v), &d) == SECCOMP_RET_KILL_PROCESS);
				}
}

/* On x86_64 the bit selects another table; elsewhere it makes a number that no call has. */
static void PLAT_5_the_bit_of_x32_kills_on_x86_64_and_is_an_unknown_number_on_arm64(void)
{
	for (int nr = 0; nr < 500; nr++) {
		CHECK(ask(&machines[0], BASE, X32_BIT | nr, 0, 0, 0, 0) == SECCOMP_RET_KILL_PROCESS);
		CHECK(ask(&machines[1], BASE, X32_BIT | nr, 0, 0, 0, 0) == ERRNO(ENOSYS));
	}
}

static void PLAT_5_the_program_of_the_build_is_the_one_of_this_machine(void)
{
	size_t found = 0;

	for (const struct machine *m = machines; m < machines + ARRAY_SIZE(machines); m++) {
		if (m->arch != seccomp_arch_native())
			continue;
		found++;
		for (int v = 0; v < SECCOMP_VARIANTS; v++) {
			const struct seccomp_choice c = choose(m, v);
			_cleanup_free_ char *text = NULL;

			CHECK(seccomp_filter_compile(&c, &text, NULL) == 0);
			CHECK(str_eq(text, seccomp_programs[v]));
		}
	}
	CHECK(found == 1);
}

static void PLAT_5_a_bundle_names_its_architecture(void)
{
	for (const struct machine *m = machines; m < machines + ARRAY_SIZE(machines); m++) {
		const struct seccomp_choice c = choose(m, NO_SETID);
		_cleanup_jdoc_ struct jdoc *d = NULL;
		const struct jdoc *calls;

		CHECK(seccomp_describe_choice(&c, &d, NULL) == 0);
		CHECK(jdoc_get(d, "architectures")->n_items == 1);
		CHECK(str_eq(jdoc_get(d, "architectures")->items[0]->string, m->name));
		calls = jdoc_get(d, "syscalls");
		/* The first two groups are lists of names, of which a runtime drops those of other machines. */
		for (size_t i = 2; i < calls->n_items; i++)
			CHECK(seccomp_choice_has_call(&c,
						      jdoc_get(calls->items[i], "names")->items[0]->string));
	}
}

static void PLAT_5_conditions_hold_on_each_architecture(void)
{
	static const uint64_t flags[] = { CLONE_NEWNS,	 CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
					  CLONE_NEWUSER, CLONE_NEWPID,	  CLONE_NEWNET };
	const uint64_t other = UINT64_C(1) << 32;

	for (const struct machine *m = machines; m < machines + ARRAY_SIZE(machines); m++) {
		for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
			CHECK(ask_name(m, BASE, "clone", flags[i] | SIGCHLD, 0, 0, 0) == ERRNO(EPERM));
		CHECK(ask_name(m, BASE, "clone", SIGCHLD, 0, 0, 0) == SECCOMP_RET_ALLOW);
		CHECK(ask_name(m, BASE, "socket", AF_INET, 0, 0, 0) == SECCOMP_RET_ALLOW);
		CHECK(ask_name(m, BASE, "socket", AF_ALG, 0, 0, 0) == ERRNO(EAFNOSUPPORT));
		CHECK(ask_name(m, BASE, "ioctl", 0, other | TIOCSTI, 0, 0) == ERRNO(EPERM));
		CHECK(ask_name(m, BASE, "ioctl", 0, TCGETS, 0, 0) == SECCOMP_RET_ALLOW);
		CHECK(ask_name(m, BASE, "sched_setaffinity", other | 1, 0, 0, 0) == ERRNO(EPERM));
		CHECK(ask_name(m, BASE, "sched_setaffinity", 7, 0, 0, 0) == SECCOMP_RET_ALLOW);
		CHECK(ask_name(m, BASE, "personality", 0x40000, 0, 0, 0) == ERRNO(EPERM));
		CHECK(ask_name(m, BASE, "prlimit64", 1, 0, 1, 0) == ERRNO(EPERM));
	}
}

/* A call that the architecture has answers WANT. */
static bool set_id(const struct machine *m, int variant, const char *name, uint32_t want, uint64_t a1,
		   uint64_t a2, uint64_t a3)
{
	const uint32_t told = ask_name(m, variant, name, 1, a1, a2, a3);

	return told == want || told == NO_CALL;
}

static void set_id_modes_are_refused_only_where_the_host_is_written(void)
{
	static const uint64_t bits[] = { 04755, 02755, 06755 };
	const uint32_t no = ERRNO(EPERM), yes = SECCOMP_RET_ALLOW;

	for (const struct machine *m = machines; m < machines + ARRAY_SIZE(machines); m++) {
		for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
			const uint64_t s = bits[i];

			CHECK(set_id(m, NO_SETID, "chmod", no, s, 0, 0));
			CHECK(set_id(m, NO_SETID, "fchmod", no, s, 0, 0));
			CHECK(set_id(m, NO_SETID, "fchmodat", no, 2, s, 0));
			CHECK(set_id(m, NO_SETID, "creat", no, s, 0, 0));
			CHECK(set_id(m, NO_SETID, "open", no, O_CREAT | O_WRONLY, s, 0));
			CHECK(set_id(m, NO_SETID, "open", no, O_TMPFILE | O_RDWR, s, 0));
			CHECK(set_id(m, NO_SETID, "openat", no, 2, O_CREAT | O_RDWR, s));
			CHECK(set_id(m, NO_SETID, "openat", no, 2, O_TMPFILE | O_RDWR, s));
			CHECK(set_id(m, NO_SETID, "mknod", no, s | 0100000, 0, 0));
			CHECK(set_id(m, NO_SETID, "mknodat", no, 2, s | 0100000, 0));
			/* The mode of an open that creates nothing is whatever the register held. */
			CHECK(set_id(m, NO_SETID, "openat", yes, 2, O_RDONLY, s));
			CHECK(set_id(m, NO_SETID, "openat", yes, 2, O_DIRECTORY, s));
			CHECK(set_id(m, BASE, "fchmod", yes, s, 0, 0));
			CHECK(set_id(m, BASE, "openat", yes, 2, O_CREAT, s));
		}
		CHECK(set_id(m, NO_SETID, "openat", yes, 2, O_CREAT, 0644));
		CHECK(set_id(m, NO_SETID, "fchmod", yes, 01777, 0, 0));
		CHECK(ask_name(m, NO_SETID, "openat2", 0, 0, 0, 0) == ERRNO(ENOSYS));
		CHECK(ask(m, NO_SETID, 452, 0, 0, 0, 0) == ERRNO(ENOSYS)); /* fchmodat2 */
		CHECK(ask_name(m, BASE, "openat2", 0, 0, 0, 0) == yes);
		/* These have no older form that every machine lacks. */
		CHECK(ask_name(m, NO_SETID, "fchmodat", 0, 0, 04755, 0) == no);
		CHECK(ask_name(m, NO_SETID, "openat", 0, 0, O_CREAT, 04755) == no);
		CHECK(ask_name(m, NO_SETID, "mknodat", 0, 0, 04755, 0) == no);
	}
}

TAP_MAIN(T(PLAT_5_each_number_of_an_architecture_gets_the_answer_of_its_name),
	 T(PLAT_5_no_call_of_an_architecture_is_forgotten),
	 T(PLAT_5_a_call_that_an_architecture_lacks_adds_nothing_to_its_filter),
	 T(PLAT_5_calls_of_other_architectures_kill_the_process),
	 T(PLAT_5_the_bit_of_x32_kills_on_x86_64_and_is_an_unknown_number_on_arm64),
	 T(PLAT_5_the_program_of_the_build_is_the_one_of_this_machine),
	 T(PLAT_5_a_bundle_names_its_architecture), T(PLAT_5_conditions_hold_on_each_architecture),
	 T(set_id_modes_are_refused_only_where_the_host_is_written))
