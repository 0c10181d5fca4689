/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "tap.h"
#include "warden/container-facts.h"
#include "warden/container-prove.h"

#define STATUS                                                                                              \
	"Name:\tsleep\nUmask:\t0022\nState:\t%s\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t9 10 \n"      \
	"SigIgn:\t0000000000000001\nCapInh:\t0000000000000000\nCapPrm:\t00000000a80425fb\n"                 \
	"CapEff:\t00000000a80425fb\nCapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\n" \
	"Seccomp:\t2\nSeccomp_filters:\t1\n"

static void status_is_read(void)
{
	struct container_status s = { 0 };
	char text[1024];

	(void)snprintf(text, sizeof(text), STATUS, "S (sleeping)");
	CHECK(container_status_parse(text, &s) == 0);
	CHECK(strcmp(s.name, "sleep") == 0 && strcmp(s.groups, "9 10") == 0);
	CHECK(s.uid[0] == 1 && s.uid[3] == 4 && s.gid[0] == 5 && s.gid[3] == 8);
	CHECK(s.umask == 022 && s.ignored == 1 && s.no_new_privs == 1 && s.seccomp == 2 && !s.ended);
	CHECK(s.capabilities[CONTAINER_SET_BOUNDING] == UINT64_C(0x1ffffffffff));
	CHECK(s.capabilities[CONTAINER_SET_EFFECTIVE] == 0xa80425fb);
	free(s.groups);
	(void)snprintf(text, sizeof(text), STATUS, "Z (zombie)");
	CHECK(container_status_parse(text, &s) == 0);
	CHECK(s.ended);
	free(s.groups);
}

static void a_process_that_exits_is_told_from_a_broken_text(void)
{
	struct container_status s = { 0 };
	char text[1024];

	(void)snprintf(text, sizeof(text), STATUS, "R (running)");
	*strstr(text, "Umask:") = 'x';
	CHECK(container_status_parse(text, &s) == -ESRCH);
	CHECK(container_status_parse("", &s) == -EBADMSG);
}

/* Each line is needed: a status without it proves nothing. */
static void a_status_without_a_line_is_refused(void)
{
	static const char *const lines[] = { "Name:",	"State:",      "Uid:",	  "Gid:",    "Groups:",
					     "SigIgn:", "CapInh:",     "CapPrm:", "CapEff:", "CapBnd:",
					     "CapAmb:", "NoNewPrivs:", "Seccomp:" };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct container_status s = { 0 };
		char text[1024], *at;

		(void)snprintf(text, sizeof(text), STATUS, "S (sleeping)");
		at = strstr(text, lines[i]);
		CHECK(at);
		at[0] = 'x';
		CHECK(container_status_parse(text, &s) == -EBADMSG);
	}
}

static void maps_are_read(void)
{
	struct container_map m;

	CHECK(container_map_parse("         0       1000          1\n         1     100000      65536\n",
				  &m) == 0);
	CHECK(m.n == 2 && m.at[0].outside == 1000 && m.at[1].inside == 1 && m.at[1].count == 65536);
	CHECK(container_map_parse("", &m) == 0 && m.n == 0);
	CHECK(container_map_parse("0 1\n", &m) == -EBADMSG);
	CHECK(container_map_parse("0 x 1\n", &m) == -EBADMSG);
}

static void mounts_are_read(void)
{
	_cleanup_container_facts_ struct container_facts x = { 0 };

	CHECK(container_mounts_parse("87 45 254:0 /r\\040s / ro,relatime - ext4 /dev/vda rw,discard\n"
				     "88 87 0:47 / /a\\040b rw shared:1 master:2 - proc proc rw\n",
				     &x) == 0);
	CHECK(x.n_mounts == 2 && x.mounts[0].id == 87 && strcmp(x.mounts[0].flags, "ro,relatime") == 0);
	CHECK(strcmp(x.mounts[0].super, "rw,discard") == 0 && strcmp(x.mounts[0].tags, "") == 0);
	CHECK(strcmp(x.mounts[1].point, "/a b") == 0 && strcmp(x.mounts[1].tags, "shared:1 master:2") == 0);
	CHECK(strcmp(x.mounts[1].type, "proc") == 0);
}

static void a_broken_line_of_mountinfo_is_refused(void)
{
	static const char *const lines[] = { "87 45 254:0 / / ro ext4 /dev/vda rw\n",
					     "87 45 254:0 / - ext4 a rw\n", "x 45 254:0 / / ro - ext4 a rw\n",
					     "87 45 254:0 / / ro - ext4\n", "\n \n" };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_container_facts_ struct container_facts x = { 0 };

		CHECK(container_mounts_parse(lines[i], &x) == -EBADMSG);
	}
}

static void stat_is_read_behind_any_name(void)
{
	struct container_facts x = { 0 };

	CHECK(container_stat_parse(
		      "42 (a) S 9 (b) S 1 41 40 34816 -1 0 1 2 3 4 5 6 7 8 20 -5 1 0 100 1 2 3 4 5 6 7 8 "
		      "9 10 11 12 13 14 15 17 1 0 2 0\n",
		      &x) == 0);
	CHECK(x.pid == 42 && x.sid == 40 && x.terminal == 34816 && x.nice == -5 && x.policy == 2);
	CHECK(container_stat_parse("42 (a) S 1 41\n", &x) == -EBADMSG);
	CHECK(container_stat_parse("", &x) == -EBADMSG);
}

/* Executes its program while its status is read: the text is from before. */
static void *execute(void *arg)
{
	const int dir = *(const int *)arg;
	_cleanup_close_ int fd = openat(dir, "status", O_WRONLY | O_CLOEXEC);
	char text[1024];
	int n = snprintf(text, sizeof(text), STATUS, "S (sleeping)");

	return fd >= 0 && renameat(dir, "program", dir, "exe") == 0 && write(fd, text, (size_t)n) == n ? arg
												       : NULL;
}

static void the_program_is_read_before_the_status(void)
{
	char path[] = "/tmp/custody-test-container-text.XXXXXX";
	_cleanup_close_ int dir = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -EBADF;
	_cleanup_container_facts_ struct container_facts x = { 0 };
	struct stat runtime;
	pthread_t thread;
	void *done = NULL;

	CHECK(dir >= 0 && mkfifoat(dir, "status", 0600) == 0 && mkdirat(dir, "exe", 0700) == 0 &&
	      mkdirat(dir, "program", 0700) == 0 && fstatat(dir, "exe", &runtime, 0) == 0);
	CHECK(pthread_create(&thread, NULL, execute, &dir) == 0);
	CHECK(container_facts_read_start(dir, &x, NULL) == 0);
	CHECK(pthread_join(thread, &done) == 0 && done);
	CHECK(x.exe_seen && x.exe_ino == runtime.st_ino && x.exe_dev == runtime.st_dev);
	CHECK(unlinkat(dir, "status", 0) == 0 && unlinkat(dir, "exe", AT_REMOVEDIR) == 0 && rmdir(path) == 0);
}

static void pauses_grow_to_a_limit(void)
{
	int last = 0;

	for (unsigned int i = 0; i < 100; i++) {
		CHECK(container_prove_pause_ms(i) >= last && container_prove_pause_ms(i) <= 100);
		last = container_prove_pause_ms(i);
	}
	CHECK(container_prove_pause_ms(0) == 1 && last == 100);
}

TAP_MAIN(T(status_is_read), T(a_process_that_exits_is_told_from_a_broken_text),
	 T(a_status_without_a_line_is_refused), T(maps_are_read), T(mounts_are_read),
	 T(a_broken_line_of_mountinfo_is_refused), T(stat_is_read_behind_any_name),
	 T(the_program_is_read_before_the_status), T(pauses_grow_to_a_limit))
