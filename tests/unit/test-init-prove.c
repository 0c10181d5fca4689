/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <asm/ioctls.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "tests/lib/init-peer.h"

/* custody-init's proofs, each with one hole that it must find. */

#define ARGS(...) ((char *const[]){ __VA_ARGS__, NULL })
#define REPORT (char *)"--report", (char *)"--env=PATH"
#define TRUE_COMMAND (char *)"--", (char *)"/bin/true"

static bool take_report(const struct peer_setup *s, struct init_msg *ret)
{
	struct peer p;
	bool ok = peer_start(s, &p) && peer_receive(&p, ret) && ret->type == INIT_MSG_REPORT;

	peer_close_socket(&p);
	(void)peer_wait(&p);
	return ok;
}

/* Is the proof of L as it should be, and TEXT in its detail? */
static bool proves(const struct peer_setup *s, enum layer l, bool holds, const char *text)
{
	struct init_msg m;
	bool ok;

	if (!take_report(s, &m)) {
		printf("# no report\n");
		return false;
	}
	ok = m.proof[l].holds == holds && strstr(m.proof[l].detail, text);
	if (!ok)
		printf("# holds %d: %s\n", m.proof[l].holds, m.proof[l].detail);
	return ok;
}

/* --- stdio ------------------------------------------------------------------------------------------------------ */

static int hole; /* which descriptor, path or mount: for the functions that run in the child */

static bool directory_as_stdio(void)
{
	return dup2(open("/", O_RDONLY | O_DIRECTORY), hole) == hole && close_range(4, ~0U, 0) == 0;
}

static bool path_of_directory_as_stdio(void)
{
	return dup2(open("/", O_PATH | O_DIRECTORY), hole) == hole && close_range(4, ~0U, 0) == 0;
}

static void a_directory_as_stdin_stdout_or_stderr_is_found(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, TRUE_COMMAND) };

	CHECK(proves(&s, LAYER_DESCRIPTORS, true, "only stdio"));
	for (hole = 0; hole <= 2; hole++) {
		s.before_exec = directory_as_stdio;
		CHECK(proves(&s, LAYER_DESCRIPTORS, false, "a directory is open as descriptor"));
		s.before_exec = path_of_directory_as_stdio;
		CHECK(proves(&s, LAYER_DESCRIPTORS, false, "a directory is open as descriptor"));
	}
}

static bool open_terminal(void)
{
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY), unlock = 0, slave;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0)
		return false;
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
	return slave >= 0 && dup2(slave, hole) == hole && close_range(4, ~0U, 0) == 0;
}

/* The container's devpts covers the host's: take it away for the moment of the open. */
static bool terminal_of_the_host(void)
{
	return umount2("/dev/pts", MNT_DETACH) == 0 && open_terminal() &&
	       mount("devpts", "/dev/pts", "devpts", 0, "newinstance,ptmxmode=0666,mode=620") == 0;
}

/* /dev/ptmx of the host is a node; the one of the new devpts is in it. */
static bool terminal_of_the_container(void)
{
	return mount("/dev/pts/ptmx", "/dev/ptmx", NULL, MS_BIND, NULL) == 0 && open_terminal();
}

static void a_terminal_of_the_host_as_stdio_is_found(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, TRUE_COMMAND), .pts = true };

	for (hole = 0; hole <= 2; hole++) {
		s.before_exec = terminal_of_the_host;
		CHECK(proves(&s, LAYER_SESSION, false, "a terminal of the host is open as descriptor"));
		s.before_exec = terminal_of_the_container;
		CHECK(proves(&s, LAYER_SESSION, true, "no terminal"));
	}
}

/* --- ids -------------------------------------------------------------------------------------------------------- */

static void no_number_inside_is_root_of_the_host(void)
{
	static const struct {
		const char *uid_map, *gid_map;
		bool holds;
		const char *text;
	} rows[] = {
		{ "0 100000 65536", "0 100000 65536", true, "uid_map 0 100000 65536" },
		{ "0 0 1", "0 0 1", false, "root of the host is mapped as uid 0" },
		{ "0 0 1", "0 100000 1", false, "root of the host is mapped as uid 0" },
		{ "0 100000 1", "0 0 1", false, "group root of the host is mapped as gid 0" },
		/* Not as root, but somewhere. */
		{ "0 100000 1\n5 0 1", "0 100000 1", false, "root of the host is mapped as uid 5" },
		{ "0 100000 1", "0 100000 1\n7 0 1", false, "group root of the host is mapped as gid 7" },
	};
	struct peer_setup s = { .args = ARGS(REPORT, TRUE_COMMAND) };

	if (geteuid() != 0) { /* a user maps itself only */
		CHECK(proves(&s, LAYER_USER_NS, true, "uid_map 0 "));
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		s.uid_map = rows[i].uid_map;
		s.gid_map = rows[i].gid_map;
		CHECK(proves(&s, LAYER_USER_NS, rows[i].holds, rows[i].text));
	}
}

/* --- namespaces of another owner -------------------------------------------------------------------------------- */

/* In a child: a namespace of kind FLAG that belongs to a user namespace around init's own. */
static int start_in_borrowed(int flag, const char *layer)
{
	char require[64], want[64], out[512];
	struct peer_setup s = { .args = ARGS(require, (char *)"--", (char *)"/bin/echo", (char *)"it ran"),
				.no_socket = true,
				.without = flag };
	uid_t uid = geteuid();
	gid_t gid = getegid();
	struct peer p;

	snprintf(require, sizeof(require), "--require=%s", layer);
	snprintf(want, sizeof(want), "layer '%s' is missing", layer);
	if (unshare(CLONE_NEWUSER | flag) < 0 || !peer_map_ids(uid, gid) || !peer_start(&s, &p))
		return 1;
	peer_read_all(p.out, out, sizeof(out));
	if (!strstr(out, want) || strstr(out, "it ran"))
		return 2;
	return WEXITSTATUS(peer_wait(&p)) == STATUS_FAILED ? 0 : 3;
}

static void a_namespace_of_another_owner_is_not_own(void)
{
	static const struct {
		int flag;
		const char *layer;
	} rows[] = {
		{ CLONE_NEWIPC, "ipc-namespace" },
		{ CLONE_NEWUTS, "uts-namespace" },
		{ CLONE_NEWNET, "network-namespace" },
		{ CLONE_NEWCGROUP, "cgroup-namespace" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int status = -1;
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (pid == 0)
			_exit(start_in_borrowed(rows[i].flag, rows[i].layer));
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			printf("# %s: %d\n", rows[i].layer, status);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

/* --- masks ------------------------------------------------------------------------------------------------------ */

static const char *const hidden[] = { "/proc/kcore",	     "/proc/keys",	  "/proc/timer_list",
				      "/proc/latency_stats", "/proc/sched_debug", "/proc/timer_stats",
				      "/proc/acpi",	     "/proc/scsi" };
static const char *const fixed[] = { "/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs",
				     "/proc/sysrq-trigger" };
#define N_HIDDEN ((int)ARRAY_SIZE(hidden))
#define N_FIXED ((int)ARRAY_SIZE(fixed))

static bool make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd >= 0 && close(fd) == 0;
}

static bool read_only(const char *path)
{
	return mount(path, path, NULL, MS_BIND, NULL) == 0 &&
	       mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) == 0;
}

/* PATH of /proc as a plain file of the new one, hidden unless it is the hole. */
static bool add_hidden(const char *path, bool masked)
{
	char at[64];

	snprintf(at, sizeof(at), "/sys/new%s", path + strlen("/proc"));
	return make_file(at) && (!masked || mount("/dev/null", at, NULL, MS_BIND, NULL) == 0);
}

static bool add_fixed(const char *path, bool masked)
{
	bool is_sys = strcmp(path, "/proc/sys") == 0;
	char at[64];

	snprintf(at, sizeof(at), "/sys/new%s", path + strlen("/proc"));
	if (strcmp(path, "/proc/sysrq-trigger") == 0 ? !make_file(at) : mkdir(at, 0755) < 0)
		return false;
	if (is_sys && mount("/proc/sys", at, NULL, MS_BIND, NULL) < 0)
		return false;
	if (is_sys)
		return !masked || mount(NULL, at, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) == 0;
	return !masked || read_only(at);
}

/*
 * A /proc that has every path, whichever of them this kernel knows, and all masks but number HOLE: first the hidden
 * paths, then the read-only ones. Only the directory of the process itself and /proc/sys are the kernel's.
 */
static bool mask_but_one(void)
{
	bool ok = mount("none", "/sys", "tmpfs", 0, NULL) == 0 && mkdir("/sys/new", 0755) == 0 &&
		  mount("none", "/sys/new", "tmpfs", 0, NULL) == 0 && mkdir("/sys/new/self", 0755) == 0 &&
		  mount("/proc/1", "/sys/new/self", NULL, MS_BIND, NULL) == 0;

	for (int i = 0; i < N_HIDDEN; i++)
		ok = ok && add_hidden(hidden[i], i != hole);
	for (int i = 0; i < N_FIXED; i++)
		ok = ok && add_fixed(fixed[i], N_HIDDEN + i != hole);
	return ok && mount("/sys/new", "/proc", NULL, MS_BIND | MS_REC, NULL) == 0;
}

static void each_mask_that_is_missing_is_found(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, TRUE_COMMAND), .before_exec = mask_but_one };

	hole = -1;
	CHECK(proves(&s, LAYER_MASKS, true, "writing to /proc/sys: EROFS"));
	for (hole = 0; hole < N_HIDDEN + N_FIXED; hole++) {
		char want[64];

		snprintf(want, sizeof(want), "%s is the same",
			 hole < N_HIDDEN ? hidden[hole] : fixed[hole - N_HIDDEN]);
		CHECK(proves(&s, LAYER_MASKS, false, want));
	}
}

/* What `--hide` names, in the tmpfs at /sys: the build is not below it. */
enum {
	MISSING,
	NULL_DEVICE,
	EMPTY_TMPFS,
	PLAIN_FILE,
	OTHER_DEVICE,
	WRITABLE_TMPFS,
	TMPFS_WITH_FILE,
	OTHER_FS,
	LINK
};

static bool make_hidden(void)
{
	const int kind = hole;
	bool ok;

	hole = -1;
	ok = mask_but_one();
	if (!ok || kind == MISSING)
		return ok;
	if (kind == LINK)
		return symlink("/dev/null", "/sys/x") == 0;
	if (kind == NULL_DEVICE || kind == PLAIN_FILE || kind == OTHER_DEVICE) {
		if (!make_file("/sys/x") || kind == PLAIN_FILE)
			return kind == PLAIN_FILE;
		return mount(kind == NULL_DEVICE ? "/dev/null" : "/dev/zero", "/sys/x", NULL, MS_BIND,
			     NULL) == 0;
	}
	if (mkdir("/sys/x", 0700) < 0)
		return false;
	if (kind == OTHER_FS)
		return mount("/usr", "/sys/x", NULL, MS_BIND, NULL) == 0 &&
		       mount(NULL, "/sys/x", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) == 0;
	if (mount("none", "/sys/x", "tmpfs", 0, NULL) < 0)
		return false;
	if (kind == TMPFS_WITH_FILE && !make_file("/sys/x/secret"))
		return false;
	return kind == WRITABLE_TMPFS || mount("none", "/sys/x", NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0;
}

static void a_hidden_path_that_shows_something_is_found(void)
{
	struct peer_setup s = { .args = ARGS(REPORT, (char *)"--hide=/sys/x", TRUE_COMMAND),
				.before_exec = make_hidden };

	for (int kind = MISSING; kind <= LINK; kind++) {
		hole = kind;
		CHECK(proves(&s, LAYER_MASKS, kind <= EMPTY_TMPFS,
			     kind <= EMPTY_TMPFS ? "EROFS" : "/sys/x is the same as on the host"));
	}
}

int run_tests(void);
#define main run_tests
TAP_MAIN(T(a_directory_as_stdin_stdout_or_stderr_is_found), T(a_terminal_of_the_host_as_stdio_is_found),
	 T(no_number_inside_is_root_of_the_host), T(a_namespace_of_another_owner_is_not_own),
	 T(each_mask_that_is_missing_is_found), T(a_hidden_path_that_shows_something_is_found))
#undef main

int main(void)
{
	if (peer_possible())
		return run_tests();
	printf("1..0 # SKIP HOST-USERNS: this user may not make user namespaces\n");
	return 0;
}
