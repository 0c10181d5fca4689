#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
# Ways around the disk limit: files without a name, held where only a look at every task finds them.

load ../lib/suite.bash

setup() {
	suite_setup
	suite_profile disk '{"limits": {"disk": "16M"}}'
}

teardown() {
	custody_teardown
}

# The rest of the test as a user whom no cgroup is delegated to.
as_user() {
	custody_teardown
	suite_setup_user
	suite_profile disk '{"limits": {"disk": "16M"}, "enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
}

# Its own file system for the state: how much that lost is compared, and other programs of the host write and remove, too.
own_disk() {
	[ "$(id -u)" -eq 0 ] || return 0
	truncate -s 512M "$CUSTODY_HOME/disk"
	mkfs.ext4 -q -m 0 -O ^has_journal -E "root_owner=$(stat -c %u:%g "$CUSTODY_ROOT")" "$CUSTODY_HOME/disk"
	CUSTODY_AS=(unshare -m --propagation private sh -c 'mount -o loop "$1" "$2" && shift 2 && exec "$@"' sh
		"$CUSTODY_HOME/disk" "$CUSTODY_ROOT" "${CUSTODY_AS[@]}")
	suite_make_ledger
}

# The program writes four files of 12 MiB, removes each, and holds it as its argument says.
build_holder() {
	cc -O1 -w -static -pthread -o hold -x c - <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <linux/landlock.h>
		#include <pthread.h>
		#include <sched.h>
		#include <signal.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/socket.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		enum { SIZE = 12 << 20 };
		static char how, stack[1 << 16], zero[1 << 16];
		static int make(void)
		{
			int fd = open("f", O_RDWR | O_CREAT | O_EXCL, 0600);
			unlink("f");
			for (int n = 0; n < SIZE; n += sizeof(zero))
				if (write(fd, zero, sizeof(zero)) != sizeof(zero))
					exit(9);
			return fd;
		}
		static void queue(int fd)
		{
			int pair[2];
			char space[CMSG_SPACE(sizeof(int))] = { 0 };
			struct iovec iov = { "x", 1 };
			struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space) };
			struct cmsghdr *c = CMSG_FIRSTHDR(&m);
			c->cmsg_level = SOL_SOCKET;
			c->cmsg_type = SCM_RIGHTS;
			c->cmsg_len = CMSG_LEN(sizeof(int));
			memcpy(CMSG_DATA(c), &fd, sizeof(int));
			if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || sendmsg(pair[0], &m, 0) != 1)
				exit(8);
		}
		/* A rule keeps the file of its descriptor, and is part of the task's credentials in the end. */
		static int rules(void)
		{
			struct landlock_ruleset_attr a = { .handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_EXECUTE };
			return syscall(SYS_landlock_create_ruleset, &a, sizeof(a), 0);
		}
		static void rule(int set, int fd)
		{
			struct landlock_path_beneath_attr p = { .allowed_access = LANDLOCK_ACCESS_FS_EXECUTE, .parent_fd = fd };
			if (syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &p, 0))
				exit(4);
		}
		static int hold(void *arg)
		{
			int set = how == 'r' ? rules() : -1;
			if (how == 'r' && set < 0)
				exit(3);
			for (int i = 0; i < 4; i++) {
				int fd = make();
				/* One page of it is enough to keep all of it. */
				if (how == 'm' && mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
					exit(7);
				if (how == 'q')
					queue(fd);
				if (how == 'r')
					rule(set, fd);
				if (how == 'm' || how == 'q' || how == 'r')
					close(fd);
			}
			if (how == 'r' && (syscall(SYS_landlock_restrict_self, set, 0) || close(set)))
				exit(2);
			for (;;)
				pause();
		}
		static void *hold_thread(void *arg) { hold(arg); return NULL; }
		int main(int argc, char **argv)
		{
			pthread_t t;
			how = argv[1][0];
			if (strchr("dmqr", how) && !argv[1][1])
				hold(NULL);
			if (how == 't') { /* a thread with a descriptor table of its own */
				if (clone(hold, stack + sizeof(stack), CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, NULL) < 0)
					exit(6);
				for (;;)
					pause();
			}
			/* the first thread exits, another one stays */
			if (pthread_create(&t, NULL, hold_thread, NULL))
				exit(5);
			syscall(SYS_exit, 0);
		}
	END
	chmod 0755 hold
}

landlock() { # WORD: if the kernel has it
	! grep -qs landlock /sys/kernel/security/lsm && ! python3 -c 'import ctypes, sys
sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) <= 0)' || echo "$1"
}

held() { # HOW: found out while it still runs
	# In the background: the process that init waits for must not be the one whose first thread exits.
	custody_run -p "$PROFILE" --timeout 120s -- sh -c "./hold $1 & exec sleep 600"
	assert_status 137
	assert_reason disk-limit
	assert_stderr_has limits.disk
}

@test "ISO-13: disk: removed files count in every descriptor table and in every memory" {
	local how
	own_disk
	build_holder
	# d: descriptors, m: mapped, q: queued in a socket, t: table of a thread, dl and ml: of a thread without its leader,
	# r: in a Landlock rule
	for how in d m q t dl ml $(landlock r); do held "$how"; done
}

@test "ISO-13: disk: removed files count in every descriptor table and in every memory, as a user" {
	local how
	as_user
	own_disk
	build_holder
	for how in d m q t dl ml $(landlock r); do held "$how"; done
}

@test "ISO-13: disk: a removed program that still runs counts" {
	# Removed only when the program runs: the shell's child is called "sh" until then.
	custody_run -p "$PROFILE" --timeout 120s -- sh -c 'for i in 1 2 3; do
			cp /usr/bin/sleep big && head -c 12M /dev/zero >>big || exit 1
			./big 600 &
			while read -r name </proc/$!/comm && [ "$name" != big ]; do :; done
			rm big || exit 1
		done; exec sleep 600'
	assert_status 137
	assert_reason disk-limit
}

@test "ISO-13: disk: a file with many names counts once" {
	local body='head -c 12M /dev/zero >f; i=0; while [ $i -lt 20 ]; do ln f f$i || exit 1; i=$((i + 1)); done; sleep 1'
	custody_run -p "$PROFILE" -- sh -c "$body"
	assert_status 0
	as_user
	custody_run -p "$PROFILE" -- sh -c "$body"
	assert_status 0
	# Written and removed is not kept.
	custody_run -p "$PROFILE" -- sh -c 'for i in 1 2 3 4 5 6; do head -c 12M /dev/zero >f && rm f; done; sleep 1'
	assert_status 0
	# Two files are two, whatever their names.
	custody_run -p "$PROFILE" -- sh -c "$body; head -c 8M /dev/zero >g; ln g h"
	assert_status 137
	assert_reason disk-limit
}

@test "ISO-13: disk: the result names the mechanism of the limit" {
	custody_run -p "$PROFILE" -- true
	assert_status 0
	[ "$(custody_result .disk_limit.by)" = watch ]
	[ "$(custody_result .disk_limit.bytes)" = $((16 << 20)) ]
	suite_profile memory '{"limits": {"disk": "16M"}, "workspace": {"mode": "tmpfs"}}'
	custody_run -p "$PROFILE" -- sh -c 'head -c 32M /dev/zero >f'
	[ "$status" -ne 0 ]
	[ "$(custody_result .disk_limit.by)" = tmpfs-size ]
	suite_profile none '{"limits": {"disk": "none"}}'
	custody_run -p "$PROFILE" -- true
	[ "$(custody_result .disk_limit)" = null ]
}

@test "ISO-13: a signal that the payload sends to itself is a signal, not a limit and not the filter" {
	local how
	suite_profile kill '{"limits": {"disk": "16M"}, "seccomp": {"violation": "kill"}}'
	for how in XFSZ SYS; do
		custody_run -p "$PROFILE" -- sh -c "kill -$how \$\$"
		assert_status "$((128 + $(kill -l $how)))"
		assert_reason signaled
	done
}

# Names that move past the walk: the second directory's time of access shows that the walk has left the first one, into which the
# files then move from the last one.  fallocate: what a process wrote is counted, too.
build_mover() {
	cc -O1 -w -static -o move -x c - <<-'END'
		#define _GNU_SOURCE
		#include <dirent.h>
		#include <fcntl.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/stat.h>
		#include <time.h>
		#include <unistd.h>
		static char order[64][8], home[32], away[32];
		static int n;
		static long seen(void)
		{
			struct stat st;
			stat(order[1], &st);
			return st.st_atim.tv_sec * 1000000000L + st.st_atim.tv_nsec;
		}
		static void arm(void)
		{
			char name[32];
			snprintf(name, sizeof(name), "%s/t", order[1]);
			close(open(name, O_CREAT | O_WRONLY, 0600));
			unlink(name);
		}
		static void lay_out(void)
		{
			char name[32];
			DIR *d;
			struct dirent *e;
			mkdir("top", 0755);
			chdir("top");
			for (int i = 0; i < 64; i++) {
				snprintf(name, sizeof(name), "d%d", i);
				mkdir(name, 0755);
			}
			d = opendir(".");
			while ((e = readdir(d)))
				if (e->d_name[0] == 'd')
					strcpy(order[n++], e->d_name);
			for (int i = 2; i < 63; i++)
				for (int j = 0; j < 20; j++) {
					snprintf(name, sizeof(name), "%s/x%d", order[i], j);
					mkdir(name, 0755);
				}
			snprintf(home, sizeof(home), "%s/D", order[63]);
			snprintf(away, sizeof(away), "%s/D", order[0]);
			mkdir(home, 0755);
		}
		/* Without a look at the walk: the directory never stays. */
		static int move_always(void)
		{
			const time_t end = time(NULL) + 20;
			int dir = open(home, O_DIRECTORY);
			char name[64];
			pid_t mover = fork();
			for (int i = 0; mover == 0; i++)
				rename(i % 2 ? away : home, i % 2 ? home : away);
			for (int i = 0; time(NULL) < end; i++) {
				snprintf(name, sizeof(name), "f%d", i);
				if (i < 40)
					fallocate(openat(dir, name, O_CREAT | O_WRONLY, 0600), 0, 0, 8 << 20);
				else
					usleep(100000);
			}
			kill(mover, SIGKILL);
			for (int i = 0; i < 40; i++) {
				snprintf(name, sizeof(name), "f%d", i);
				unlinkat(dir, name, 0);
			}
			return 0;
		}
		int main(int argc, char **argv)
		{
			const time_t end = time(NULL) + 20;
			char name[64];
			long last;
			lay_out();
			if (argc > 1)
				return move_always();
			arm();
			last = seen();
			for (int i = 0; time(NULL) < end;) {
				if (seen() != last) {
					rename(home, away);
					usleep(200000);
					rename(away, home);
					arm();
					last = seen();
				} else if (i < 40) {
					int fd;
					snprintf(name, sizeof(name), "%s/f%d", home, i++);
					fd = open(name, O_CREAT | O_WRONLY, 0600);
					fallocate(fd, 0, 0, 8 << 20);
					close(fd);
				}
			}
			for (int i = 0; i < 40; i++) {
				snprintf(name, sizeof(name), "%s/f%d", home, i);
				unlink(name);
			}
			return 0;
		}
	END
}

@test "ISO-13: files that move to where the walk has been are counted" {
	suite_profile disk '{"limits": {"disk": "64M"}}'
	build_mover
	custody_run -p "$PROFILE" -- ./move
	assert_reason disk-limit
}

# Without a cgroup of its own to stop the run with: the walk itself must not be seen.
@test "ISO-13: files that move to where the walk has been are counted, as a user" {
	as_user
	jq '.limits.disk = "64M"' "$PROFILE" >"$PROFILE.new"
	mv "$PROFILE.new" "$PROFILE"
	build_mover
	custody_run -p "$PROFILE" -- ./move
	assert_reason disk-limit
	custody_run -p "$PROFILE" -- ./move always
	assert_reason disk-limit
}
