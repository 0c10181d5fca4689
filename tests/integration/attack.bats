#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154,SC2317 # scripts for the inside; bats' subshells; functions as arguments
#
# Hostile payloads, trees and directories: each test is an attack, and says what must not come of it.

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	suite_setup
	suite_ungoverned
	umask 022
}

teardown() {
	custody_teardown
}

# as_user JSON: the rest of the test as a user whom no cgroup is delegated to.
as_user() {
	custody_teardown
	suite_setup_user
	suite_profile user "$(jq -n --argjson body "$1" '$body + {enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}')"
}

# attack <<C: compiles a program into ./attack.
attack() {
	cc -O1 -w -static -o attack -x c - 2>&1 || return
	if [ ${#CUSTODY_AS[@]} -gt 0 ] && [ "$(id -u)" -eq 0 ]; then
		chown -R "$SUITE_UID:$SUITE_UID" .
	fi
}

# ---- standard input ----

speaks_through_stdin() { # [OPTIONS]
	local rest
	rest=$(printf 'one\ntwo\n' | {
		"${CUSTODY_AS[@]}" "$CUSTODY" run "$@" -- sh -c 'read -r a; read -r b
			{ echo "rm -rf /"; } >/proc/self/fd/0; echo "got $a $b"'
		cat
	})
	# Its own words may make custody miscount what it read: then those bytes are seen again, but never its words.
	[[ $rest == 'got one two'* && $rest != *rm* ]]
}

@test "ISO-1: a payload cannot write into the pipe that the caller reads after it" {
	speaks_through_stdin
	as_user '{}'
	speaks_through_stdin -p "$PROFILE"
}

@test "ISO-1: a payload cannot change the flags of the caller's pipe" {
	echo x | {
		"$CUSTODY" run -- perl -MFcntl -e '$f = fcntl(STDIN, F_GETFL, 0); fcntl(STDIN, F_SETFL, $f | O_NONBLOCK) or die'
		perl -MFcntl -e 'exit(fcntl(STDIN, F_GETFL, 0) & O_NONBLOCK ? 1 : 0)'
	}
}

@test "stdin: input that the payload does not read stays in the pipe for the next reader" {
	local rest
	rest=$(printf 'one\ntwo\nthree\n' | { "$CUSTODY" run -- sh -c 'read -r a; echo "got $a"'; cat; })
	[ "$rest" = $'got one\ntwo\nthree' ]
	rest=$(printf 'one\n' | { "$CUSTODY" run -- sh -c 'exec <&-; true'; cat; })
	[ "$rest" = one ]
}

@test "stdin: a pipe arrives whole, in any size of reads" {
	local want
	want=$(seq 1 300000 | cksum)
	[ "$(seq 1 300000 | "$CUSTODY" run -- cat | cksum)" = "$want" ]
	[ "$(seq 1 300000 | "$CUSTODY" run -- dd bs=1500 status=none | cksum)" = "$want" ]
	[ "$(seq 1 300000 | "$CUSTODY" run -- perl -e 'while (sysread STDIN, $b, 1 + int rand 20000) { print $b }' | cksum)" = "$want" ]
}

# ---- init and the supervisor's verdict ----

cripples_init() { # [OPTIONS]
	attack <<-'C'
		#define _GNU_SOURCE
		#include <errno.h>
		#include <signal.h>
		#include <stdio.h>
		#include <sys/resource.h>
		#include <sys/time.h>
		int main(void)
		{
			static const int what[] = { RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_CPU, RLIMIT_AS, RLIMIT_STACK };
			struct rlimit none = { 0, 0 }, own;
			for (int i = 0; i < 5; i++)
				if (prlimit(1, what[i], &none, NULL) == 0)
					printf("took limit %d of init\n", what[i]);
			if (prlimit(0, RLIMIT_NOFILE, NULL, &own) || prlimit(0, RLIMIT_NOFILE, &own, NULL) ||
			    prlimit(1, RLIMIT_NOFILE, NULL, &own))
				printf("harmless calls: %d\n", errno);
			for (int s = 1; s < 65; s++)
				if (s != SIGTERM && s != SIGINT && s != SIGHUP && s != SIGQUIT && s != SIGUSR1 && s != SIGUSR2)
					kill(1, s);
			return 7;
		}
	C
	custody_run "$@" -- ./attack
	assert_status 7
	assert_reason exited
	[ -z "$output" ]
}

@test "ISO-1: a payload cannot change init's limits, kill it or forge its messages" {
	cripples_init
	as_user '{}'
	cripples_init -p "$PROFILE"
}

# Init has the command's id.  At the lowest priority, on one CPU with many busy processes, it would run once in minutes: its clock
# would stand still, and not even SIGKILL would end it.
starves_init() {
	attack <<-'C'
		#define _GNU_SOURCE
		#include <sched.h>
		#include <stdio.h>
		#include <sys/resource.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int main(void)
		{
			const struct sched_param none = { 0 };
			unsigned int attr[12] = { 48, SCHED_IDLE };
			const long init[] = { 1, 1L << 32 | 1 };
			cpu_set_t one;
			CPU_ZERO(&one);
			CPU_SET(0, &one);
			for (int i = 0; i < 2; i++)
				if (!syscall(SYS_sched_setscheduler, init[i], SCHED_IDLE, &none) || !syscall(SYS_sched_setattr, init[i], attr, 0) ||
				    !syscall(SYS_sched_setparam, init[i], &none) || syscall(SYS_sched_setaffinity, init[i], sizeof(one), &one) >= 0 ||
				    !syscall(SYS_setpriority, PRIO_PROCESS, init[i], 19) || !syscall(SYS_setpriority, PRIO_PGRP, init[i], 19) ||
				    !syscall(SYS_ioprio_set, 1, init[i], 3 << 13) || !syscall(SYS_ioprio_set, 2, init[i], 3 << 13))
					printf("init was changed\n");
			/* Its own it may lower. */
			if (sched_setscheduler(0, SCHED_IDLE, &none) || sched_setscheduler(getpid(), SCHED_IDLE, &none) ||
			    sched_setaffinity(getpid(), sizeof(one), &one) || setpriority(PRIO_PROCESS, getpid(), 19))
				printf("harmless calls failed\n");
			return 7;
		}
	C
}

@test "ISO-13: a payload cannot keep init from running" {
	starves_init
	custody_run -- ./attack
	assert_status 7
	[ -z "$output" ]
	bundle -- ./attack
	for runtime in crun runc; do
		runtime_run "$runtime" "$BUNDLE"
		assert_status 7
		[ -z "$output" ]
	done
	as_user '{}'
	starves_init
	custody_run -p "$PROFILE" -- ./attack
	assert_status 7
	[ -z "$output" ]
}

# Waiting signals count for the caller as well.  Beyond its limit the kernel drops the value of a signal, which tells a stop of an
# operator from any other SIGTERM.
fills_the_queue() { # [OPTIONS]
	attack <<-'C'
		#include <errno.h>
		#include <signal.h>
		#include <stdio.h>
		#include <unistd.h>
		int main(void)
		{
			sigset_t set;
			sigemptyset(&set);
			sigaddset(&set, SIGRTMIN);
			sigprocmask(SIG_BLOCK, &set, 0);
			while (sigqueue(getpid(), SIGRTMIN, (union sigval){ 0 }) == 0)
				;
			printf("full\n");
			fflush(stdout);
			for (;;)
				pause();
		}
	C
	custody_run -d "$@" -- ./attack
	assert_status 0
	local id=$output
	wait_until grep -q full "$CUSTODY_ROOT/sandbox/sessions/$id/stdio.log"
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" stop "$id"
	assert_status 0
	[ "$("${CUSTODY_AS[@]}" "$CUSTODY" ledger show --json | jq -r --arg id "$id" '.records[] | select(.k == "session.end" and .session == $id) | .d.reason')" = operator ]
}

@test "ISO-4: a payload cannot turn the stop of an operator into something else" {
	fills_the_queue
	as_user '{}'
	fills_the_queue -p "$PROFILE"
}

@test "ISO-4: after the release no message claims that nothing was executed" {
	# The filter is opened for the call, so that init loses its descriptors and dies of it.
	suite_profile open '{"seccomp": {"allow": ["prlimit64"]}}'
	attack <<-'C'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <sys/resource.h>
		#include <unistd.h>
		int main(void)
		{
			struct rlimit none = { 0, 0 }, second = { 1, 1 };
			prlimit(1, RLIMIT_NOFILE, &none, NULL);
			prlimit(1, RLIMIT_CPU, &second, NULL);
			return write(1, "executed\n", 9) != 9;
		}
	C
	custody_run -p "$PROFILE" -- ./attack
	assert_output_has executed
	[[ $stderr != *"nothing was executed"* ]]
	[ "$(custody_result .exit.reason)" = lost ] || [ "$(custody_result .exit.reason)" = exited ]
}

@test "ISO-1: init cannot be traced, read, opened or joined" {
	custody_run -- sh -c 'for f in mem environ exe root cwd fd/3 ns/mnt map_files syscall; do
			if { ls -A "/proc/1/$f/" || head -c 1 "/proc/1/$f"; } >/dev/null 2>&1; then echo "opened $f"; fi
		done
		(: >>/run/custody/init) 2>/dev/null && echo "opened init"
		kill -KILL 1; kill -STOP 1; echo alive'
	assert_status 0
	[ "$output" = alive ]
}

# ---- custody's own directories ----

@test "ISO-7: a sweep kills no process that a planted session names" {
	local root=$CUSTODY_HOME/evil fifo=$CUSTODY_HOME/fifo victim
	mkfifo "$fifo"
	cat "$fifo" >/dev/null 3>&- &
	victim=$!
	mkdir -p "$root/run/sessions/20260101T000000Z-deadbeef" "$root/custody-x"
	echo "$victim" >"$root/custody-x/cgroup.procs"
	echo "$root/custody-x" >"$root/run/sessions/20260101T000000Z-deadbeef/cgroup"
	CUSTODY_ROOT=$root run "$CUSTODY" run -- true
	kill -0 "$victim"
	: >"$fifo"
	wait "$victim"
	[ -e "$root/custody-x/cgroup.procs" ]
}

@test "custody's own directories are refused if another user owns or can write them" {
	local root=$CUSTODY_HOME/other
	runs() { # STATUS [TEXT]
		CUSTODY_ROOT=$root run "$CUSTODY" run -- true
		[ "$status" -eq "$1" ]
		[[ $output == *"${2:-}"* ]]
	}
	mkdir -p "$root/run"
	chmod 0777 "$root/run"
	runs 125 "chmod go-w"
	chmod 0755 "$root/run"
	chmod 0777 "$root"
	runs 125
	chmod 0755 "$root"
	runs 0
	if [ "$(id -u)" -eq 0 ]; then
		chown 64321 "$root/run"
		runs 125 "belongs to uid 64321"
		chown 0 "$root/run"
		chown 64321 "$root"
		runs 125
	fi
}

@test "ROOT-3: a writable tree that holds custody's own directories is refused" {
	suite_profile rw '{"workspace": {"mode": "rw"}}'
	mkdir sub
	local root
	for root in "$PWD/root" "$PWD/sub/deep/root"; do
		CUSTODY_ROOT=$root custody_run -p "$PROFILE" -- touch planted
		assert_status 125
		assert_stderr_has "custody's own"
	done
	CUSTODY_ROOT=$PWD/root custody_run -v ./sub:/x:rw -- true
	assert_status 0
	CUSTODY_ROOT=$PWD/sub/root custody_run -v ./sub:/x:rw -- touch /x/planted
	assert_status 125
	[ ! -e planted ] && [ ! -e sub/planted ]
	rm -rf root sub
}

@test "--result does not write through a link of the tree's" {
	echo precious >"$CUSTODY_HOME/precious"
	ln -s "$CUSTODY_HOME/precious" out.json
	run "$CUSTODY" run --result out.json -- touch "$CUSTODY_HOME/work/ran"
	[ "$status" -eq 125 ]
	[ "$(cat "$CUSTODY_HOME/precious")" = precious ]
	run "$CUSTODY" run --result /dev/stdout -- true
	[ "$status" -eq 0 ]
	[ "$(jq -r .exit.reason <<<"$output")" = exited ]
}

# The caller reads the file at that path: it is custody's word, or the run failed.
@test "ISO-4: a command that may write the file of --result forges no result" {
	suite_ungoverned
	suite_profile rw '{"workspace": {"mode": "rw"}}'
	mkdir d
	for how in 'rm d/r.json; echo "$FORGED" >d/r.json' 'mv d e; mkdir d; echo "$FORGED" >d/r.json' \
		'mv d e; mkdir f; echo "$FORGED" >f/r.json; ln -s f d' 'rm d/r.json'; do
		run "$CUSTODY" run -p "$PROFILE" -e FORGED='{"exit":{"code":77}}' --result d/r.json -- sh -c "$how"
		[ "$status" -eq 125 ]
		[[ $output == *d/r.json*"during the run"* ]]
		rm -rf d e f
		mkdir d
	done
	# Longer than the result: nothing of it stays behind.
	run "$CUSTODY" run -p "$PROFILE" --result d/r.json -- sh -c 'printf "%9000s{\"exit\":{\"code\":77}}" "" >d/r.json; exit 3'
	[ "$status" -eq 3 ]
	[ "$(jq -c .exit.code d/r.json)" = 3 ]
}

# ---- messages and names ----

@test "a message quotes nothing that a terminal would obey" {
	local esc=$'\e'
	suite_profile esc '{"workspace": {"mode": "\u001b]0;owned\u0007"}}'
	run "$CUSTODY" run -p "$PROFILE" -- true
	[ "$status" -eq 125 ]
	[[ $output == *owned* && $output != *"$esc"* ]]
	run "$CUSTODY" profile check "$PROFILE"
	[[ $output == *owned* && $output != *"$esc"* ]]
	run "$CUSTODY" run "--${esc}[31mred" -- true
	[[ $output == *red* && $output != *"$esc"* ]]
	run -127 "$CUSTODY" run -- "${esc}[31mred"
	[[ $output == *red* && $output != *"$esc"* ]]
}

@test "a name that no result could hold is refused before anything runs" {
	suite_profile rw '{"workspace": {"mode": "rw"}}'
	for option in --name --agent --worker --issue; do
		run "$CUSTODY" run -p "$PROFILE" "$option" $'\xff' -- touch ran
		[ "$status" -eq 125 ]
		[[ $output == *"not UTF-8"* ]]
	done
	[ ! -e ran ]
}

hostile_directory() { # [OPTIONS]
	local name
	for name in 'a:b' 'a,b' 'a\b' $'a\nb' $'a\tb' 'a"b' "a'b" $'\e]0;x\a' ' x ' '%s%n' '-rf' '$(id)' ':' "$(printf 'x%.0s' {1..255})"; do
		mkdir -- "./$name"
		echo content >"./$name/file"
		[ ${#CUSTODY_AS[@]} -eq 0 ] || [ "$(id -u)" -ne 0 ] || chown -R "$SUITE_UID:$SUITE_UID" "./$name"
		pushd "./$name" >/dev/null || return
		custody_run "$@" -- sh -c 'cat file; echo changed >file; cat file'
		popd >/dev/null || return
		assert_status 0
		[ "$output" = $'content\nchanged' ]
		[ "$(cat "./$name/file")" = content ]
	done
}

@test "ISO-3: a directory of any name can be the worktree" {
	hostile_directory
	as_user '{}'
	hostile_directory -p "$PROFILE"
}

@test "a directory whose name is not UTF-8, or that is gone, is refused with words" {
	mkdir $'\xff' gone
	pushd $'\xff' >/dev/null
	custody_run -- true
	popd >/dev/null
	assert_status 125
	assert_stderr_has 'not UTF-8'
	pushd gone >/dev/null
	rmdir ../gone
	custody_run -- true
	popd >/dev/null
	assert_status 125
	assert_stderr_has 'current directory'
}

# ---- the disk limit ----

over_the_disk_limit() { # SCRIPT [OPTIONS]: found out while it still runs
	custody_run "${@:2}" --timeout 120s -- sh -c "$1; exec sleep 600"
	assert_status 137
	assert_reason disk-limit
}

@test "ISO-13: disk: removed files that are still open count" {
	suite_profile disk '{"limits": {"disk": "16M"}}'
	over_the_disk_limit 'for i in 3 4 5 6; do eval "exec $i>f"; rm f; head -c 12M /dev/zero >&$i; done' -p "$PROFILE"
	as_user '{"limits": {"disk": "16M"}}'
	over_the_disk_limit 'for i in 3 4 5 6; do eval "exec $i>f"; rm f; head -c 12M /dev/zero >&$i; done' -p "$PROFILE"
}

@test "ISO-13: disk: one removed file counts once, however many hold it" {
	suite_profile disk '{"limits": {"disk": "16M"}}'
	custody_run -p "$PROFILE" -- sh -c 'exec 3>f 4>&3 5>&3; rm f; head -c 12M /dev/zero >&3
		sleep 1 & sleep 1 & sleep 1 & wait'
	assert_status 0
}

@test "ISO-13: disk: empty files count" {
	suite_profile disk '{"limits": {"disk": "16M"}}'
	over_the_disk_limit 'i=0; while [ $i -lt 9000 ]; do : >$i; i=$((i + 1)); done' -p "$PROFILE"
}

@test "ISO-13: disk: directories that their owner cannot read count" {
	local mode
	as_user '{"limits": {"disk": "16M"}}'
	for mode in 000 300; do
		over_the_disk_limit "mkdir d; for i in 1 2; do head -c 12M /dev/zero >d/\$i; done; chmod $mode d" -p "$PROFILE"
	done
	over_the_disk_limit 'for i in 1 2; do head -c 12M /dev/zero >$i; done; chmod 000 "$PWD"' -p "$PROFILE"
	custody_run -p "$PROFILE" -- sh -c 'mkdir d; for i in 1 2; do head -c 12M /dev/zero >d/$i; done; chmod 000 d'
	assert_status 137
	assert_reason disk-limit
}

@test "output that cannot be written is a failure, with words" {
	run bash -c "\"\$CUSTODY\" run -- echo hi 2>&1 >/dev/full"
	[ "$status" -eq 125 ]
	[[ $output == *"No space left"* ]]
	run bash -c "\"\$CUSTODY\" run -- sh -c 'echo hi; exit 3' 2>&1 >/dev/full"
	[ "$status" -eq 3 ]
	"$CUSTODY" run -- sh -c 'trap "" PIPE; echo hi; echo ho; true' 2>/dev/null | true
	[ "${PIPESTATUS[0]}" -eq 0 ]
}

@test "--result: a FIFO without a reader blocks no process" {
	mkfifo fifo
	run timeout 60 "$CUSTODY" run --result fifo -- true
	[ "$status" -eq 125 ]
	[[ $output == *FIFO* ]]
}

# ---- what never worked ----

@test "ISO-1: the host's /proc cannot be shown under another name" {
	local source
	ln -s /proc "$CUSTODY_HOME/link"
	for source in /proc "$CUSTODY_HOME/link" /proc/sys; do
		custody_run -v "$source:/x" -- true
		assert_status 125
		assert_stderr_has 'processes of the host'
	done
	suite_profile proc '{"filesystem": {"ro": ["/proc:/x"]}}'
	custody_run -p "$PROFILE" -- true
	assert_status 125
}

@test "ISO-2: the system calls of an escape are refused, in every disguise" {
	attack <<-'C'
		#define _GNU_SOURCE
		#include <errno.h>
		#include <fcntl.h>
		#include <sched.h>
		#include <signal.h>
		#include <stdio.h>
		#include <sys/ioctl.h>
		#include <sys/socket.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define HIGH 0x100000000UL
		static void no(const char *what, long nr, long a, long b, long c, long d)
		{
			if (syscall(nr, a, b, c, d, 0, 0) != -1)
				printf("%s passed\n", what);
			else if (errno != EPERM && errno != ENOSYS && errno != EAFNOSUPPORT)
				printf("%s: errno %d\n", what, errno);
		}
		static void dies(const char *what, int how)
		{
			int status, r;
			pid_t pid = fork();
			if (pid == 0) {
				if (how == 0)
					syscall(0x40000000 | SYS_getpid);
		#ifdef __x86_64__
				if (how == 1)
					__asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory");
		#endif
				_exit(0);
			}
			waitpid(pid, &status, 0);
			if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
				printf("%s passed\n", what);
		}
		int main(void)
		{
			no("unshare", SYS_unshare, CLONE_NEWUSER, 0, 0, 0);
			no("clone user", SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0);
			no("clone high", SYS_clone, HIGH | CLONE_NEWNS | SIGCHLD, 0, 0, 0);
			no("clone3", SYS_clone3, 0, 0, 0, 0);
			no("setns", SYS_setns, 0, 0, 0, 0);
			no("mount", SYS_mount, 0, (long)"/tmp", (long)"tmpfs", 0);
			no("umount", SYS_umount2, (long)".", 2, 0, 0);
			no("open_tree", SYS_open_tree, AT_FDCWD, (long)"/", 1, 0);
			no("pivot_root", SYS_pivot_root, (long)".", (long)".", 0, 0);
			no("chroot", SYS_chroot, (long)"/tmp", 0, 0, 0);
			no("ptrace", SYS_ptrace, 16, 1, 0, 0);
			no("process_vm_writev", SYS_process_vm_writev, 1, 0, 0, 0);
			no("pidfd_getfd", SYS_pidfd_getfd, syscall(SYS_pidfd_open, 1, 0), 3, 0, 0);
			no("io_uring", SYS_io_uring_setup, 1, 0, 0, 0);
			no("bpf", SYS_bpf, 0, 0, 0, 0);
			no("userfaultfd", SYS_userfaultfd, 0, 0, 0, 0);
			no("perf", SYS_perf_event_open, 0, 0, 0, 0);
			no("keyctl", SYS_keyctl, 0, 0, 0, 0);
			no("open_by_handle", SYS_open_by_handle_at, 0, 0, 0, 0);
			no("personality", SYS_personality, 0x40000, 0, 0, 0);
			no("personality high", SYS_personality, HIGH | 0x400000, 0, 0, 0);
			no("tiocsti", SYS_ioctl, 0, TIOCSTI, (long)"x", 0);
			no("tiocsti high", SYS_ioctl, 0, HIGH | TIOCSTI, (long)"x", 0);
			no("packet", SYS_socket, AF_PACKET, SOCK_RAW, 0, 0);
			no("vsock", SYS_socket, 40, SOCK_STREAM, 0, 0);
			no("alg", SYS_socket, 38, SOCK_SEQPACKET, 0, 0);
			no("raw", SYS_socket, AF_INET, SOCK_RAW, 1, 0);
			dies("x32", 0);
		#ifdef __x86_64__
			dies("int80", 1);
		#endif
			return 0;
		}
	C
	custody_run -- ./attack
	assert_status 0
	[ -z "$output" ]
}

@test "ROOT-3: no call makes a set-id file in a writable tree of the host" {
	suite_profile rw '{"workspace": {"mode": "rw"}}'
	attack <<-'C'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <linux/openat2.h>
		#include <sys/stat.h>
		#include <sys/syscall.h>
		#include <sys/xattr.h>
		#include <unistd.h>
		int main(void)
		{
			struct open_how how = { .flags = O_CREAT | O_RDWR, .mode = 06755 };
			int fd = open("f", O_CREAT | O_RDWR, 0755);
			chmod("f", 04755); fchmod(fd, 02755); fchmodat(AT_FDCWD, "f", 06755, 0);
			syscall(452, AT_FDCWD, "f", 04755, 0); syscall(SYS_chmod, "f", 0x100000000UL | 04755);
			open("g", O_CREAT | O_RDWR, 04755); openat(AT_FDCWD, "h", O_CREAT | O_RDWR, 02755); creat("i", 06755);
			mknod("j", S_IFREG | 04755, 0); mknodat(AT_FDCWD, "k", S_IFREG | 02755, 0);
			syscall(SYS_openat2, AT_FDCWD, "l", &how, sizeof(how));
			fd = open(".", O_TMPFILE | O_RDWR, 04755);
			linkat(fd, "", AT_FDCWD, "m", AT_EMPTY_PATH);
			setxattr("f", "security.capability", "\1\0\0\2\377\377\377\377\0\0\0\0\377\377\377\377\0\0\0", 20, 0);
			link("/usr/bin/su", "n"); link("/usr/bin/passwd", "o"); mkdir("p", 07777);
			mknod("q", S_IFCHR | 0666, 0x101); mknod("r", S_IFBLK | 0666, 0x800);
			return 0;
		}
	C
	custody_run -p "$PROFILE" -- ./attack
	assert_status 0
	[ -f f ]
	[ -z "$(find . -perm /6000)" ]
	[ -z "$(find . -type b -o -type c)" ]
	run --separate-stderr getfattr -m security.capability f
	assert_status 0
	[ -z "$output" ]
}

@test "ROOT-3: a tree that became a link since its bundle was written is not followed" {
	[ "$(id -u)" -eq 0 ] || skip_without USER-NAMESPACE
	mkdir sub real
	bundle -v ./sub:/x:rw -- sh -c 'echo z >/x/z'
	runtime_run crun "$BUNDLE"
	assert_status 0
	[ -e sub/z ]
	mv sub moved
	ln -s real sub
	runtime_run crun "$BUNDLE"
	[ "$status" -ne 0 ]
	[ ! -e real/z ]
	[[ $(cat "$BUNDLE/custody-hook.err") == *"symbolic link"* ]]
}
