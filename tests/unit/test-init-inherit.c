/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "layer/inherit-table.h"
#include "tap.h"
#include "tests/lib/init-peer.h"

/* custody-init with a process state that a hostile caller left behind. */

#define ARGS(...) ((char *const[]){ __VA_ARGS__, NULL })
#define REPORT (char *)"--report", (char *)"--env=PATH"
#define TRUE_COMMAND (char *)"--", (char *)"/bin/true"
#define ECHO_COMMAND (char *)"--", (char *)"/bin/echo", (char *)"it-ran"

static bool take_report(const struct peer_setup *s, struct init_msg *ret)
{
	struct peer p;
	bool ok = peer_start(s, &p) && peer_receive(&p, ret) && ret->type == INIT_MSG_REPORT;

	peer_close_socket(&p);
	(void)peer_wait(&p);
	return ok;
}

/* Does the proof of L fail, with TEXT in its detail? */
static bool fails(const struct peer_setup *s, enum layer l, const char *text)
{
	struct init_msg m;

	if (!take_report(s, &m))
		return false;
	if (m.proof[l].holds || !strstr(m.proof[l].detail, text))
		printf("# holds %d: %s\n", m.proof[l].holds, m.proof[l].detail);
	return !m.proof[l].holds && strstr(m.proof[l].detail, text);
}

static bool holds(const struct peer_setup *s, enum layer l)
{
	struct init_msg m;

	if (!take_report(s, &m))
		return false;
	if (!m.proof[l].holds)
		printf("# %s\n", m.proof[l].detail);
	return m.proof[l].holds;
}

static void a_directory_of_its_own_mounts_is_proven(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, (char *)"--cwd=/usr", TRUE_COMMAND) };

	CHECK(holds(&s, LAYER_CWD));
	s.args = ARGS(REPORT, TRUE_COMMAND);
	CHECK(fails(&s, LAYER_CWD, "--cwd is missing"));
	s.args = ARGS(REPORT, (char *)"--cwd=/proc/no-such-directory/x", TRUE_COMMAND);
	CHECK(fails(&s, LAYER_CWD, "cannot enter"));
	s.args = ARGS(REPORT, (char *)"--cwd=/etc/passwd", TRUE_COMMAND);
	CHECK(fails(&s, LAYER_CWD, "ENOTDIR"));
}

static void directories_of_the_kernel_are_refused(void)
{
	static const char *const paths[] = { "--cwd=/proc",   "--cwd=/proc/1/task", "--cwd=/dev",
					     "--cwd=/dev/./", "--cwd=/sys",	    "--cwd=/proc/self/ns" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct peer_setup s = { .args = ARGS(REPORT, (char *)paths[i], TRUE_COMMAND) };

		CHECK(fails(&s, LAYER_CWD, "below /proc, /dev or /sys"));
	}
}

/* As descriptor 7: a clone of a directory that no mount namespace has, as a runtime holds it. */
static bool leave_clone(void)
{
	int fd = (int)syscall(SYS_open_tree, AT_FDCWD, "/usr", OPEN_TREE_CLONE);

	return fd >= 0 && dup2(fd, 7) == 7;
}

static bool leave_removed(void)
{
	char path[] = "/tmp/custody-test-XXXXXX";

	return mkdtemp(path) && dup2(open(path, O_RDONLY | O_DIRECTORY), 7) == 7 && rmdir(path) == 0;
}

static void a_descriptor_of_the_runtime_is_no_way_out(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, (char *)"--cwd=/proc/self/fd/7", TRUE_COMMAND),
				.before_exec = leave_clone };

	CHECK(fails(&s, LAYER_CWD, "not below the root"));
	CHECK(fails(&s, LAYER_DESCRIPTORS, "is open"));
	s.before_exec = leave_removed;
	CHECK(fails(&s, LAYER_CWD, "removed"));
}

static bool write_all(const char *path, const void *bytes, size_t len, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	bool ok = fd >= 0 && write(fd, bytes, len) == (ssize_t)len;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* A root that is a plain directory of a read-only file system: chroot without pivot_root. */
static bool plain_directory_as_root(void)
{
	static char program[8 << 20];
	const char *build = getenv("BUILDDIR");
	char path[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/custody-init", build ? build : ".");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, program, sizeof(program));
	if (fd >= 0)
		close(fd);
	if (n <= 0 || mount("none", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, NULL) < 0)
		return false;
	snprintf(path, sizeof(path), "/tmp/r%s", build ? build : "/");
	for (char *slash = path + 5; *slash; slash++) {
		char kept = *slash;

		if (kept != '/')
			continue;
		*slash = '\0';
		(void)mkdir(path, 0755);
		*slash = kept;
	}
	(void)mkdir(path, 0755);
	strncat(path, "/custody-init", sizeof(path) - strlen(path) - 1);
	return write_all(path, program, (size_t)n, 0755) && mkdir("/tmp/r/proc", 0755) == 0 &&
	       mount("proc", "/tmp/r/proc", "proc", 0, NULL) == 0 &&
	       mount("none", "/tmp", NULL, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) == 0 &&
	       chroot("/tmp/r") == 0;
}

static void a_root_that_is_no_mount_is_found(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, TRUE_COMMAND), .before_exec = plain_directory_as_root };

	CHECK(fails(&s, LAYER_ROOT, "creating in / and /usr: EROFS ENOENT"));
}

/* The state of the process that starts init; as root also what only root may have. */
static int real_time_io = 1 << 13;

static void be_hostile(bool on)
{
	const struct rlimit core = { 0 };

	(void)setrlimit(RLIMIT_CORE, &core);
	(void)umask(on ? 0 : 022);
	(void)signal(SIGUSR1, on ? SIG_IGN : SIG_DFL);
	(void)personality(on ? ADDR_NO_RANDOMIZE : 0);
	(void)prctl(PR_SET_TIMERSLACK, on ? 1 : 50000, 0, 0, 0);
	if (geteuid() == 0) {
		(void)setpriority(PRIO_PROCESS, 0, on ? -5 : 0);
		(void)syscall(SYS_ioprio_set, 1, 0, on ? real_time_io : 0);
	}
}

static void the_state_of_a_caller_is_reset(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, TRUE_COMMAND) };
	bool held;

	be_hostile(true);
	held = holds(&s, LAYER_PROCESS);
	be_hostile(false);
	CHECK(held);
}

/* The call that resets it; with ARGUMENT >= 0 only calls with this first argument. */
static struct {
	long nr, argument;
} refused_call;

static bool refuse_call(void)
{
	const bool any = refused_call.argument < 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)refused_call.nr, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)refused_call.argument, 0, any ? 0 : 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = ARRAY_SIZE(code), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) == 0;
}

/* An attribute that cannot be reset is found by its own check. */
static void state_that_stays_is_found(void)
{
	static const struct {
		long nr, argument;
		const char *text;
		bool needs_root;
	} rows[] = {
		{ SYS_umask, -1, "umask", false },
		{ SYS_rt_sigaction, SIGUSR1, "ignored signals", false },
		{ SYS_personality, 0, "personality", false },
		{ SYS_prctl, PR_SET_TIMERSLACK, "timer slack", false },
		{ SYS_setpriority, -1, "nice value -5", true },
		{ SYS_ioprio_set, -1, "I/O priority", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct peer_setup s = { .args = ARGS(REPORT, TRUE_COMMAND), .before_exec = refuse_call };
		bool found;

		if (rows[i].needs_root && geteuid() != 0)
			continue;
		refused_call.nr = rows[i].nr;
		refused_call.argument = rows[i].argument;
		be_hostile(true);
		found = fails(&s, LAYER_PROCESS, rows[i].text);
		be_hostile(false);
		CHECK(found);
	}
}

static void a_real_time_class_is_reset_or_found(void)
{
	const struct sched_param high = { .sched_priority = 1 }, normal = { 0 };
	struct peer_setup s = { .args = ARGS(REPORT, TRUE_COMMAND) };
	bool held, found;

	be_hostile(false);
	/* Only root may have it, and not in every cgroup. */
	if (sched_setscheduler(0, SCHED_RR, &high) < 0)
		return;
	held = holds(&s, LAYER_PROCESS);
	s.before_exec = refuse_call;
	refused_call.nr = SYS_sched_setscheduler;
	refused_call.argument = -1;
	found = fails(&s, LAYER_PROCESS, "scheduling class 2");
	(void)sched_setscheduler(0, SCHED_OTHER, &normal);
	CHECK(held && found);
}

static const char *check(enum inherit i, const char *status)
{
	const struct inherit_asked asked = { 0 };
	long long value;

	return inherit_check(i, status, &asked, &value);
}

static void ids_and_groups_are_read(void)
{
	CHECK(!check(INHERIT_IDS, "Name:\tx\nUid:\t7\t7\t7\t7\nGid:\t8\t8\t8\t8\n"));
	CHECK(check(INHERIT_IDS, "Uid:\t7\t0\t7\t7\nGid:\t8\t8\t8\t8\n"));
	CHECK(check(INHERIT_IDS, "Uid:\t7\t7\t0\t7\nGid:\t8\t8\t8\t8\n"));
	CHECK(check(INHERIT_IDS, "Uid:\t7\t7\t7\t0\nGid:\t8\t8\t8\t8\n"));
	CHECK(check(INHERIT_IDS, "Uid:\t7\t7\t7\t7\nGid:\t8\t8\t0\t8\n"));
	CHECK(check(INHERIT_IDS, "Uid:\t7\t7\t7\t7\n") && check(INHERIT_IDS, ""));
	/* This process may call setgroups: then none may be left. */
	CHECK(!check(INHERIT_GROUPS, "Groups:\t \nNStgid:\t1\n"));
	CHECK(check(INHERIT_GROUPS, "Groups:\t4 27 \n") && check(INHERIT_GROUPS, "Name:\tx\n"));
}

/* These system calls return 0 and do nothing: the kernel gives no other way to such a state. */
static struct {
	long nr, argument;
	bool with_pointer; /* only with a second argument that is not NULL */
} void_call;

static bool void_a_call(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)void_call.nr, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)void_call.argument, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, void_call.with_pointer ? 1 : 0, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = ARRAY_SIZE(code), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) == 0;
}

static void state_of_the_command_that_is_not_as_required_executes_nothing(void)
{
	static const struct {
		long nr, argument;
		bool with_pointer;
		const char *text;
	} rows[] = {
		{ SYS_rt_sigprocmask, SIG_SETMASK, true, "signal mask" },
		{ SYS_prctl, PR_GET_PDEATHSIG, false, "parent-death signal -1" },
	};

	be_hostile(false);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct peer_setup s = { .args = ARGS(REPORT, ECHO_COMMAND), .before_exec = void_a_call };
		char text[1024] = "";
		struct init_msg m;
		struct peer p;

		void_call.nr = rows[i].nr;
		void_call.argument = rows[i].argument;
		void_call.with_pointer = rows[i].with_pointer;
		CHECK(peer_start(&s, &p) && peer_receive(&p, &m) && m.type == INIT_MSG_REPORT);
		CHECK(m.proof[LAYER_PROCESS].holds);
		CHECK(peer_send(&p, INIT_MSG_GO, 0));
		CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXEC_FAILED && m.value == EPERM);
		peer_close_socket(&p);
		peer_read_all(p.out, text, sizeof(text));
		if (!strstr(text, rows[i].text))
			printf("# %s\n", text);
		CHECK(strstr(text, rows[i].text) && !strstr(text, "it-ran"));
		(void)peer_wait(&p);
	}
}

static bool set_timer(void)
{
	const struct itimerval far = { .it_value = { .tv_sec = 100000 } };

	return setitimer(ITIMER_PROF, &far, NULL) == 0;
}

static void timers_of_init_are_found(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, TRUE_COMMAND), .before_exec = set_timer };

	be_hostile(false);
	CHECK(fails(&s, LAYER_PROCESS, "interval timer number 2"));
}

static void an_init_that_is_dumpable_is_found(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, TRUE_COMMAND), .before_exec = void_a_call };

	be_hostile(false);
	void_call.nr = SYS_prctl;
	void_call.argument = PR_SET_DUMPABLE;
	void_call.with_pointer = false;
	CHECK(fails(&s, LAYER_PROCESS, "dumpable 1"));
}

static void a_row_without_a_check_is_not_proven(void)
{
	CHECK(check(INHERIT_TIME_NS, "") && check(_INHERIT_MAX, ""));
	CHECK(check(INHERIT_UMASK, "") && check(INHERIT_SIGNAL_ACTIONS, ""));
}

static bool set_securebits(void)
{
	return prctl(PR_SET_SECUREBITS, SECBIT_NO_CAP_AMBIENT_RAISE, 0, 0, 0) == 0;
}

static void securebits_are_found(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, TRUE_COMMAND), .before_exec = set_securebits };

	be_hostile(false);
	CHECK(fails(&s, LAYER_PROCESS, "securebits 64"));
}

static void limits_are_those_that_were_asked(void)
{
	struct rlimit files;
	struct peer_setup s = { .args = ARGS(REPORT, (char *)"--files=17", TRUE_COMMAND) };
	char right[48];

	be_hostile(false);
	CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max != 17);
	CHECK(fails(&s, LAYER_PROCESS, "resource limit number 7"));
	s.args = ARGS(REPORT, (char *)"--file-size=4096", TRUE_COMMAND);
	CHECK(fails(&s, LAYER_PROCESS, "resource limit number 1"));
	snprintf(right, sizeof(right), "--files=%llu", (unsigned long long)files.rlim_max);
	s.args = ARGS(REPORT, right, TRUE_COMMAND);
	CHECK(holds(&s, LAYER_PROCESS));
}

static char oom_file[] = "/tmp/custody-test-oom-XXXXXX";

static bool protect_from_oom(void)
{
	return mount(oom_file, "/proc/1/oom_score_adj", NULL, MS_BIND, NULL) == 0;
}

static bool protect_from_oom_for_good(void)
{
	return protect_from_oom() &&
	       mount(NULL, "/proc/1/oom_score_adj", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) == 0;
}

/* A file stands for the kernel's: to lower the value needs a capability that a container's root may lack. */
static void protection_from_the_oom_killer_is_found(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, TRUE_COMMAND), .before_exec = protect_from_oom };
	int fd = mkstemp(oom_file);
	bool held, found;

	be_hostile(false);
	CHECK(fd >= 0 && write(fd, "-500\n", 5) == 5);
	close(fd);
	s.before_exec = protect_from_oom_for_good;
	found = fails(&s, LAYER_PROCESS, "oom_score_adj -500");
	s.before_exec = protect_from_oom;
	held = holds(&s, LAYER_PROCESS); /* it wrote a zero */
	unlink(oom_file);
	CHECK(found && held);
}

int run_tests(void);
#define main run_tests
TAP_MAIN(T(a_directory_of_its_own_mounts_is_proven), T(directories_of_the_kernel_are_refused),
	 T(a_descriptor_of_the_runtime_is_no_way_out), T(a_root_that_is_no_mount_is_found),
	 T(the_state_of_a_caller_is_reset), T(state_that_stays_is_found),
	 T(a_real_time_class_is_reset_or_found), T(ids_and_groups_are_read),
	 T(state_of_the_command_that_is_not_as_required_executes_nothing), T(timers_of_init_are_found),
	 T(an_init_that_is_dumpable_is_found), T(a_row_without_a_check_is_not_proven),
	 T(securebits_are_found), T(limits_are_those_that_were_asked),
	 T(protection_from_the_oom_killer_is_found))
#undef main

int main(void)
{
	if (peer_possible())
		return run_tests();
	printf("1..0 # SKIP HOST-USERNS: this user may not make user namespaces\n");
	return 0;
}
