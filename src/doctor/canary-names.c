/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "doctor/canary.h"
#include "layer/init-proto.h"

/* Tries against identities, processes, the network and other objects that a namespace hides. */

/* Kernel settings that only the host's root may read; capabilities inside do not permit it. */
static int read_as_host_root(const struct canary_facts *f)
{
	static const char *const files[] = { "/proc/vmallocinfo", "/proc/slabinfo", "/proc/pagetypeinfo",
					     "/proc/kpagecount" };

	(void)f;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct stat st;
		int fd;

		if (stat(files[i], &st) < 0)
			continue;
		fd = open(files[i], O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return errno;
		close(fd);
		return 0;
	}
	return TRY_NONE;
}

static int be_host_root(const struct canary_facts *f)
{
	struct stat st;

	(void)f;
	if (stat("/proc/version", &st) < 0)
		return TRY_NONE;
	return st.st_uid == 0 || st.st_uid == getuid() ? 0 : TRY_HIDDEN;
}

static int signal_outside(const struct canary_facts *f)
{
	return kill(f->pid, 0) < 0 && errno == ESRCH ? ESRCH : 0;
}

static int see_outside(const struct canary_facts *f)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)f->pid);
	return stat(path, &st) < 0 ? errno : 0;
}

static int compare_ns(const struct canary_facts *f, enum init_ns n, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	return st.st_ino == f->ns[n] ? 0 : TRY_HIDDEN;
}

static int share_mounts(const struct canary_facts *f)
{
	return compare_ns(f, INIT_NS_MNT, "/proc/self/ns/mnt");
}

static int route_out(const struct canary_facts *f)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), r = 0;

	(void)f;
	to.sin_addr.s_addr =
		inet_addr("192.0.2.1"); /* TEST-NET-1, reserved for documentation; nothing is sent */
	if (fd < 0)
		return errno;
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		r = errno;
	close(fd);
	return r;
}

static int reach_loopback(const struct canary_facts *f)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(f->port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), r = 0;

	if (fd < 0)
		return errno;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		r = errno;
	close(fd);
	return r;
}

static int reach_abstract(const struct canary_facts *f)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd, r = 0;

	if (!f->socket)
		return TRY_NONE;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	(void)snprintf(to.sun_path + 1, sizeof(to.sun_path) - 1, "%s", f->socket);
	if (connect(fd, (const struct sockaddr *)&to,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(f->socket))) < 0)
		r = errno;
	close(fd);
	return r;
}

static int attach_memory(const struct canary_facts *f)
{
	void *p = shmat(f->shm, NULL, SHM_RDONLY);

	if (p == (void *)-1)
		return errno;
	(void)shmdt(p);
	return 0;
}

static int see_hostname(const struct canary_facts *f)
{
	struct utsname u;

	if (!f->hostname || uname(&u) < 0)
		return TRY_NONE;
	return strcmp(u.nodename, f->hostname) == 0 ? 0 : TRY_HIDDEN;
}

static int see_cgroup_path(const struct canary_facts *f)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[4096];
	int r = TRY_HIDDEN;

	(void)f;
	if (!file)
		return TRY_NONE;
	while (fgets(line, sizeof(line), file)) {
		const char *path = strrchr(line, ':');

		if (path && strcmp(path, ":/\n") != 0)
			r = 0;
	}
	(void)fclose(file);
	return r;
}

/* Own file, mode 000: only CAP_DAC_OVERRIDE can open it. */
static int override_mode(const struct canary_facts *f)
{
	int fd = memfd_create("canary", MFD_CLOEXEC), other, r = 0;
	char path[32];

	(void)f;
	if (fd < 0 || fchmod(fd, 0) < 0)
		return TRY_NONE;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	other = open(path, O_RDWR | O_CLOEXEC);
	if (other < 0)
		r = errno;
	else
		close(other);
	close(fd);
	return r;
}

static int raw_socket(const struct canary_facts *f)
{
	int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);

	(void)f;
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int change_user(const struct canary_facts *f)
{
	(void)f;
	return setresuid(1, 1, 1) < 0 ? errno : 0;
}

/* With this bit exec ignores set-id bits and file capabilities, and it cannot be cleared. */
static int gain_by_exec(const struct canary_facts *f)
{
	(void)f;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 0;
	return prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) < 0 ? errno : 0;
}

static int open_terminal(const struct canary_facts *f)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	(void)f;
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int join_session(const struct canary_facts *f)
{
	pid_t parent = getsid(getppid());

	(void)f;
	/* The main process leads its session; 0 is a session that was created outside. */
	return parent > 0 ? TRY_HIDDEN : 0;
}

/* clang-format off */
const struct canary_try canary_names[] = {
	{ "read a setting of the host's root", LAYER_USER_NS, read_as_host_root },
	{ "become the host's root", LAYER_USER_NS, be_host_root },
	{ "signal a process outside", LAYER_PID_NS, signal_outside },
	{ "see a process outside", LAYER_PID_NS, see_outside },
	{ "share the host's mounts", LAYER_MOUNT_NS, share_mounts },
	{ "find a route out", LAYER_NET_NS, route_out },
	{ "connect to the host's loopback", LAYER_NET_NS, reach_loopback },
	{ "connect to an abstract socket outside", LAYER_NET_NS, reach_abstract },
	{ "attach shared memory outside", LAYER_IPC_NS, attach_memory },
	{ "see the host's name", LAYER_UTS_NS, see_hostname },
	{ "see the host's cgroup path", LAYER_CGROUP_NS, see_cgroup_path },
	{ "open a file of mode 000", LAYER_CAPABILITIES, override_mode },
	{ "open a raw socket", LAYER_CAPABILITIES, raw_socket },
	{ "become another user", LAYER_CAPABILITIES, change_user },
	{ "gain privileges by a set-id program", LAYER_NO_NEW_PRIVS, gain_by_exec },
	{ "open a terminal", LAYER_SESSION, open_terminal },
	{ "belong to a session outside", LAYER_SESSION, join_session },
	{ 0 },
};
/* clang-format on */
