/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "tap.h"
#include "tests/lib/init-peer.h"

#define ARGS(...) ((char *const[]){ __VA_ARGS__, NULL })
#define REPORT (char *)"--report", (char *)"--env=PATH"
#define SHELL(script) (char *)"--", (char *)"/bin/sh", (char *)"-c", (char *)(script)

/* Starts, takes the report, releases.  The rest is up to the test. */
static bool release(const struct peer_setup *s, struct peer *p, struct init_msg *report)
{
	return peer_start(s, p) && peer_receive(p, report) && report->type == INIT_MSG_REPORT &&
	       peer_send(p, INIT_MSG_GO, 0);
}

/* Runs the payload to its end; init must exit as the payload did. */
static bool payload_prints(const struct peer_setup *s, const char *want)
{
	struct init_msg m;
	struct peer p;
	char out[512];

	if (!release(s, &p, &m))
		return false;
	peer_read_all(p.out, out, sizeof(out));
	if (strcmp(out, want) != 0)
		printf("# %s\n", out);
	return peer_wait(&p) == 0 && strcmp(out, want) == 0;
}

static void exit_status_is_reported_and_is_inits_own(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("exit 7")) };
	struct init_msg m;
	struct peer p;
	int status;

	CHECK(release(&s, &p, &m));
	CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXECED);
	CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXITED);
	CHECK(WIFEXITED(m.value) && WEXITSTATUS(m.value) == 7);
	CHECK(!peer_receive(&p, &m));
	status = peer_wait(&p);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void death_by_signal_is_reported_as_such(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("kill -9 $$")) };
	struct init_msg m;
	struct peer p;
	int status;

	CHECK(release(&s, &p, &m));
	CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXECED);
	CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXITED);
	CHECK(WIFSIGNALED(m.value) && WTERMSIG(m.value) == SIGKILL);
	status = peer_wait(&p);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGKILL);
}

static void closed_before_go_executes_nothing(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("echo it ran")) };
	struct init_msg m;
	struct peer p;
	char out[256];
	int status;

	CHECK(peer_start(&s, &p) && peer_receive(&p, &m));
	peer_close_socket(&p);
	peer_read_all(p.out, out, sizeof(out));
	CHECK(strcmp(out, "") == 0);
	status = peer_wait(&p);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS_FAILED);
}

static void anything_but_go_executes_nothing(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("echo it ran")) };
	struct init_msg m;
	struct peer p;
	char out[256];
	int status;

	CHECK(peer_start(&s, &p) && peer_receive(&p, &m));
	CHECK(peer_send(&p, INIT_MSG_SIGNAL, SIGTERM));
	peer_read_all(p.out, out, sizeof(out));
	CHECK(strstr(out, "not released") && !strstr(out, "it ran"));
	status = peer_wait(&p);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS_FAILED);
}

static void not_being_the_first_process_is_refused(void)
{
	struct peer_setup s = { .args = ARGS(SHELL("echo it ran")), .no_socket = true, .not_first = true };
	struct peer p;
	char out[256];
	int status;

	CHECK(peer_start(&s, &p));
	peer_read_all(p.out, out, sizeof(out));
	CHECK(strstr(out, "not PID 1") && !strstr(out, "it ran"));
	status = peer_wait(&p);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS_FAILED);
}

static void report_without_a_socket_executes_nothing(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("echo it ran")), .no_socket = true };
	struct peer p;
	char out[256];
	int status;

	CHECK(peer_start(&s, &p));
	peer_read_all(p.out, out, sizeof(out));
	CHECK(strstr(out, "descriptor 3") && !strstr(out, "it ran"));
	status = peer_wait(&p);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS_FAILED);
}

static void missing_command_is_127(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, (char *)"--", (char *)"no-such-command") };
	struct init_msg m;
	struct peer p;
	int status;

	CHECK(release(&s, &p, &m));
	CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXEC_FAILED && m.value == ENOENT);
	status = peer_wait(&p);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

static void file_that_is_no_program_is_126_and_no_shell_reads_it(void)
{
	char path[] = "/tmp/custody-test-XXXXXX";
	struct peer_setup s = { .args = ARGS(REPORT, (char *)"--", path) };
	int fd = mkstemp(path), status;
	struct init_msg m;
	struct peer p;
	char out[64];

	CHECK(fd >= 0 && write(fd, "echo it ran\n", 12) == 12 && fchmod(fd, 0755) == 0);
	close(fd);
	CHECK(release(&s, &p, &m));
	CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXEC_FAILED && m.value == ENOEXEC);
	unlink(path);
	peer_read_all(p.out, out, sizeof(out));
	CHECK(strcmp(out, "") == 0);
	status = peer_wait(&p);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 126);
}

static void signal_message_reaches_the_payloads_group(void)
{
	/* The subshell is of the same group and must get it too. */
	struct peer_setup s = { .args = ARGS(REPORT,
					     SHELL("trap 'wait; exit 42' USR1; (trap 'echo both; exit' USR1; "
						   "echo ready; while :; do sleep 0.1; done) & "
						   "while :; do sleep 0.1; done")) };
	struct init_msg m;
	struct peer p;

	CHECK(release(&s, &p, &m));
	CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXECED);
	CHECK(peer_expect(p.out, "ready"));
	CHECK(peer_send(&p, INIT_MSG_SIGNAL, SIGUSR1));
	CHECK(peer_expect(p.out, "both"));
	CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXITED && WEXITSTATUS(m.value) == 42);
	peer_wait(&p);
}

static void signal_to_init_itself_is_forwarded(void)
{
	struct peer_setup s = { .args = ARGS(SHELL(
					"trap 'exit 43' TERM; echo ready; while :; do sleep 0.1; done")),
				.no_socket = true };
	struct peer p;
	int status;

	CHECK(peer_start(&s, &p));
	CHECK(peer_expect(p.out, "ready"));
	CHECK(kill(p.pid, SIGTERM) == 0);
	status = peer_wait(&p);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 43);
}

static void lost_supervisor_ends_everything(void)
{
	struct peer_setup s = {
		.args = ARGS(REPORT, SHELL("trap '' TERM HUP; (trap '' TERM HUP; setsid sleep 1000) & "
					   "echo ready; sleep 1000"))
	};
	struct init_msg m;
	struct peer p;
	char out[64];
	int status;

	CHECK(release(&s, &p, &m));
	CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXECED);
	CHECK(peer_expect(p.out, "ready"));
	peer_close_socket(&p);
	peer_read_all(p.out, out, sizeof(out)); /* ends only when the last of them is gone */
	status = peer_wait(&p);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS_FAILED);
}

static void orphans_are_gone_before_the_end_is_reported(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("setsid sleep 1000 & exit 0")) };
	struct init_msg m;
	struct peer p;
	char out[64];

	CHECK(release(&s, &p, &m));
	CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXECED);
	CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXITED && m.value == 0);
	peer_read_all(p.out, out, sizeof(out));
	CHECK(peer_wait(&p) == 0);
}

static void output_that_the_payload_closed_is_closed(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("trap 'exit 9' USR2; exec >&- 2>&-; "
							   "while :; do sleep 0.1 </dev/null; done")) };
	struct init_msg m;
	struct peer p;
	char out[64];

	CHECK(release(&s, &p, &m));
	CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXECED);
	peer_read_all(p.out, out, sizeof(out)); /* end of file although the payload runs */
	CHECK(peer_send(&p, INIT_MSG_SIGNAL, SIGUSR2));
	CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXITED && WEXITSTATUS(m.value) == 9);
	peer_wait(&p);
}

static bool ignore_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	return sigprocmask(SIG_BLOCK, &all, NULL) == 0;
}

static void payload_starts_with_default_signals_and_stdio_only(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("grep -E '^Sig(Blk|Ign)' /proc/self/status; "
							   "exec /bin/ls /proc/self/fd")),
				.before_exec = ignore_signals };

	CHECK(payload_prints(&s, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0\n1\n2\n3\n"));
}

static bool drop_capabilities(void)
{
	struct {
		unsigned int version;
		int pid;
	} header = { 0x20080522, 0 };
	unsigned int none[6] = { 0 };

	for (int cap = 0; cap < 64; cap++)
		(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	return syscall(SYS_capset, &header, none) == 0;
}

static void payload_cannot_look_into_init(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("readlink /proc/1/fd/3 || echo no; "
							   "cat /proc/1/environ >/dev/null 2>&1 || echo no")),
				.before_exec = drop_capabilities };

	CHECK(payload_prints(&s, "no\nno\n"));
}

static void terminal_comes_with_the_report_and_controls_the_payload(void)
{
	/* noflsh: else the kernel throws away, on ^C, what the trap may have printed already. */
	struct peer_setup s = { .args = ARGS(REPORT, (char *)"--tty=012",
					     SHELL("trap 'echo interrupted; exit 5' INT; stty noflsh; "
						   ": >/dev/tty && echo ready; while :; do sleep 0.1; done")),
				.pts = true };
	struct init_msg m;
	struct peer p;

	CHECK(release(&s, &p, &m));
	CHECK(p.master >= 0);
	CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXECED);
	CHECK(peer_expect(p.master, "ready"));
	CHECK(write(p.master, "\003", 1) == 1);
	CHECK(peer_expect(p.master, "interrupted"));
	CHECK(peer_receive(&p, &m) && m.type == INIT_MSG_EXITED && WEXITSTATUS(m.value) == 5);
	peer_wait(&p);
}

/* --- proofs: each fact alone, made and unmade ------------------------------------------------------------------ */

static bool take_report(const struct peer_setup *s, struct init_msg *m)
{
	struct peer p;
	bool ok = peer_start(s, &p) && peer_receive(&p, m) && m->type == INIT_MSG_REPORT;

	peer_close_socket(&p);
	peer_wait(&p);
	return ok;
}

static void namespaces_are_seen(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("exit 0")) };
	struct init_msg m;
	struct stat st;

	CHECK(take_report(&s, &m));
	CHECK(stat("/proc/self/ns/net", &st) == 0 && m.ns[INIT_NS_NET] != 0 &&
	      m.ns[INIT_NS_NET] != st.st_ino);
	CHECK(m.proof[LAYER_PID_NS].holds && m.proof[LAYER_PID_NS].err == ESRCH);
	CHECK(m.proof[LAYER_NET_NS].holds && m.proof[LAYER_NET_NS].err == ENETUNREACH);
	CHECK(m.proof[LAYER_IPC_NS].holds && m.proof[LAYER_UTS_NS].holds && m.proof[LAYER_CGROUP_NS].holds);
	CHECK(m.proof[LAYER_MOUNT_NS].holds);
	/* The host's root here is the host's root in there: that is what the layer is about. */
	CHECK(stat("/proc/version", &st) == 0);
	CHECK(m.proof[LAYER_USER_NS].holds == (geteuid() != st.st_uid));
}

static void proc_of_another_pid_namespace_is_found(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("exit 0")), .no_proc = true };
	struct init_msg m;

	CHECK(take_report(&s, &m));
	CHECK(!m.proof[LAYER_PID_NS].holds);
}

/* In a child: an ipc namespace that is neither the kernel's first one nor init's own. */
static int start_in_borrowed_ipc(void)
{
	struct peer_setup s = { .args = ARGS((char *)"--require=ipc-namespace", SHELL("echo it ran")),
				.no_socket = true,
				.without = CLONE_NEWIPC };
	uid_t uid = geteuid();
	gid_t gid = getegid();
	struct peer p;
	char out[512];

	if (unshare(CLONE_NEWUSER | CLONE_NEWIPC) < 0 || !peer_map_ids(uid, gid) || !peer_start(&s, &p))
		return 1;
	peer_read_all(p.out, out, sizeof(out));
	if (!strstr(out, "layer 'ipc-namespace' is missing") || strstr(out, "it ran"))
		return 2;
	return WEXITSTATUS(peer_wait(&p)) == STATUS_FAILED ? 0 : 3;
}

static void namespace_of_another_process_is_not_own(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(start_in_borrowed_ipc());
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void nothing_else_holds_where_nothing_was_confined(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("exit 0")) };
	struct init_msg m;

	CHECK(take_report(&s, &m));
	CHECK(!m.proof[LAYER_ROOT].holds);
	CHECK(!m.proof[LAYER_MASKS].holds);
	CHECK(!m.proof[LAYER_WORKTREE].holds);
	CHECK(!m.proof[LAYER_CAPABILITIES].holds);
	CHECK(!m.proof[LAYER_NO_NEW_PRIVS].holds);
	CHECK(!m.proof[LAYER_SECCOMP].holds);
	for (unsigned int l = LAYER_MEMORY_LIMIT; l < _LAYER_MAX; l++)
		CHECK(!m.proof[l].holds);
}

static bool install_filter(unsigned int action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_keyctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = ARRAY_SIZE(code), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0;
}

static bool filter_errno(void)
{
	return install_filter(SECCOMP_RET_ERRNO | EPERM);
}

static bool filter_kill(void)
{
	return install_filter(SECCOMP_RET_KILL_PROCESS);
}

static bool filter_nothing(void)
{
	return install_filter(SECCOMP_RET_ALLOW);
}

static void filter_is_proven_by_what_it_refuses(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("exit 0")), .before_exec = filter_errno };
	struct init_msg m;

	CHECK(take_report(&s, &m));
	CHECK(m.proof[LAYER_SECCOMP].holds && m.proof[LAYER_SECCOMP].err == EPERM);
	CHECK(m.proof[LAYER_NO_NEW_PRIVS].holds);
	s.before_exec = filter_kill;
	s.args = ARGS(REPORT, (char *)"--seccomp-kills", SHELL("exit 0"));
	CHECK(take_report(&s, &m));
	CHECK(m.proof[LAYER_SECCOMP].holds);
	s.before_exec = filter_nothing; /* "Seccomp: 2" alone is not enough */
	CHECK(take_report(&s, &m));
	CHECK(!m.proof[LAYER_SECCOMP].holds);
}

static void capabilities_are_proven_by_a_file_that_stays_shut(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("exit 0")), .before_exec = drop_capabilities };
	struct init_msg m;

	CHECK(take_report(&s, &m));
	CHECK(m.proof[LAYER_CAPABILITIES].holds && m.proof[LAYER_CAPABILITIES].err == EACCES);
}

static bool leave_descriptor(void)
{
	return dup2(0, 7) == 7;
}

static bool directory_as_stdin(void)
{
	return dup2(open("/", O_RDONLY | O_DIRECTORY), 0) == 0 && close_range(4, ~0U, 0) == 0;
}

static void inherited_descriptors_are_found(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("exit 0")) };
	struct init_msg m;

	CHECK(take_report(&s, &m));
	CHECK(m.proof[LAYER_DESCRIPTORS].holds);
	s.before_exec = leave_descriptor;
	CHECK(take_report(&s, &m));
	CHECK(!m.proof[LAYER_DESCRIPTORS].holds && strstr(m.proof[LAYER_DESCRIPTORS].detail, "7"));
	s.before_exec = directory_as_stdin;
	CHECK(take_report(&s, &m));
	CHECK(!m.proof[LAYER_DESCRIPTORS].holds && strstr(m.proof[LAYER_DESCRIPTORS].detail, "directory"));
}

static void inherited_session_is_found(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("exit 0")) };
	struct init_msg m;

	CHECK(take_report(&s, &m));
	CHECK(m.proof[LAYER_SESSION].holds && m.proof[LAYER_SESSION].err == ENXIO);
	s.no_session = true;
	CHECK(take_report(&s, &m));
	CHECK(!m.proof[LAYER_SESSION].holds);
}

static void environment_is_exactly_the_list(void)
{
	char *const secret[] = { (char *)"PATH=/usr/bin:/bin", (char *)"TOKEN=abc", NULL };
	struct peer_setup s = { .args = ARGS(REPORT, SHELL("exit 0")) };
	struct init_msg m;

	CHECK(take_report(&s, &m));
	CHECK(m.proof[LAYER_ENVIRONMENT].holds);
	s.env = secret;
	CHECK(take_report(&s, &m));
	CHECK(!m.proof[LAYER_ENVIRONMENT].holds);
	CHECK(strstr(m.proof[LAYER_ENVIRONMENT].detail, "TOKEN") &&
	      !strstr(m.proof[LAYER_ENVIRONMENT].detail, "abc"));
	s.env = NULL;
	s.args = ARGS((char *)"--report", (char *)"--env=PATH,HOME", SHELL("exit 0"));
	CHECK(take_report(&s, &m));
	CHECK(!m.proof[LAYER_ENVIRONMENT].holds);
	s.args = ARGS((char *)"--report", SHELL("exit 0"));
	CHECK(take_report(&s, &m));
	CHECK(!m.proof[LAYER_ENVIRONMENT].holds);
}

static void required_layer_that_is_missing_stops_a_foreign_run(void)
{
	struct peer_setup s = { .args = ARGS((char *)"--require=pid-namespace,seccomp", SHELL("echo it ran")),
				.no_socket = true };
	struct peer p;
	char out[512];
	int status;

	CHECK(peer_start(&s, &p));
	peer_read_all(p.out, out, sizeof(out));
	CHECK(strstr(out, "layer 'seccomp' is missing") && !strstr(out, "it ran"));
	status = peer_wait(&p);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS_FAILED);
	s.before_exec = filter_errno;
	CHECK(peer_start(&s, &p));
	peer_read_all(p.out, out, sizeof(out));
	CHECK(strcmp(out, "it ran\n") == 0);
	CHECK(peer_wait(&p) == 0);
}

static void time_limit_of_a_foreign_run_ends_it(void)
{
	struct peer_setup s = { .args = ARGS((char *)"--time=1:0", SHELL("trap '' TERM; exec sleep 1000")),
				.no_socket = true };
	struct peer p;
	int status;

	CHECK(peer_start(&s, &p));
	status = peer_wait(&p);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS_TIMEOUT);
}

/* Without user namespaces nothing of this can be tested: the plan names doctor's id. */
int run_tests(void);
#define main run_tests
TAP_MAIN(T(exit_status_is_reported_and_is_inits_own), T(death_by_signal_is_reported_as_such),
	 T(closed_before_go_executes_nothing), T(anything_but_go_executes_nothing),
	 T(not_being_the_first_process_is_refused), T(report_without_a_socket_executes_nothing),
	 T(missing_command_is_127), T(file_that_is_no_program_is_126_and_no_shell_reads_it),
	 T(signal_message_reaches_the_payloads_group), T(signal_to_init_itself_is_forwarded),
	 T(lost_supervisor_ends_everything), T(orphans_are_gone_before_the_end_is_reported),
	 T(output_that_the_payload_closed_is_closed), T(payload_starts_with_default_signals_and_stdio_only),
	 T(payload_cannot_look_into_init), T(terminal_comes_with_the_report_and_controls_the_payload),
	 T(namespaces_are_seen), T(proc_of_another_pid_namespace_is_found),
	 T(namespace_of_another_process_is_not_own), T(nothing_else_holds_where_nothing_was_confined),
	 T(filter_is_proven_by_what_it_refuses), T(capabilities_are_proven_by_a_file_that_stays_shut),
	 T(inherited_descriptors_are_found), T(inherited_session_is_found),
	 T(environment_is_exactly_the_list), T(required_layer_that_is_missing_stops_a_foreign_run),
	 T(time_limit_of_a_foreign_run_ends_it))
#undef main

int main(void)
{
	if (peer_possible())
		return run_tests();
	printf("1..0 # SKIP HOST-USERNS: this user may not make user namespaces\n");
	return 0;
}
