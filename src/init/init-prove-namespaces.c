/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "init/init-prove.h"

static const char *const ns_paths[_INIT_NS_MAX] = {
	[INIT_NS_USER] = "/proc/self/ns/user",	   [INIT_NS_PID] = "/proc/self/ns/pid",
	[INIT_NS_MNT] = "/proc/self/ns/mnt",	   [INIT_NS_NET] = "/proc/self/ns/net",
	[INIT_NS_IPC] = "/proc/self/ns/ipc",	   [INIT_NS_UTS] = "/proc/self/ns/uts",
	[INIT_NS_CGROUP] = "/proc/self/ns/cgroup", [INIT_NS_TIME] = "/proc/self/ns/time",
};

/* Inode numbers of the namespaces that the kernel boots with: part of its interface (include/linux/proc_ns.h). */
static const uint64_t ns_initial[_INIT_NS_MAX] = {
	[INIT_NS_USER] = 0xEFFFFFFDu,	[INIT_NS_PID] = 0xEFFFFFFCu,  [INIT_NS_MNT] = 0xEFFFFFF8u,
	[INIT_NS_NET] = 0xEFFFFFF9u,	[INIT_NS_IPC] = 0xEFFFFFFFu,  [INIT_NS_UTS] = 0xEFFFFFFEu,
	[INIT_NS_CGROUP] = 0xEFFFFFFBu, [INIT_NS_TIME] = 0xEFFFFFFAu,
};

static uint64_t ns_inode(const char *path)
{
	struct stat st;

	return SYS(newfstatat, AT_FDCWD, path, &st, 0) < 0 ? 0 : st.st_ino;
}

/* Inode of the user namespace that owns namespace N of this process; 0 if the kernel does not report it. */
static uint64_t ns_owner(enum init_ns n)
{
	struct stat st = { 0 };
	long fd, owner;

	fd = SYS(openat, AT_FDCWD, ns_paths[n], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	owner = SYS(ioctl, fd, NS_GET_USERNS, 0);
	if (owner >= 0 && SYS(fstat, owner, &st) < 0)
		st.st_ino = 0;
	(void)SYS(close, owner);
	(void)SYS(close, fd);
	return st.st_ino;
}

/*
 * Is namespace N not the host's? With a supervisor the inode number is reported and compared there. Alone,
 * init checks the owner: a namespace created together with our user namespace is owned by it.
 */
static bool ns_is_own(const struct prove *p, enum init_ns n)
{
	const uint64_t *ns = p->report->ns;

	if (ns[n] == 0 || ns[n] == ns_initial[n])
		return false;
	if (p->options->report || ns[INIT_NS_USER] == ns_initial[INIT_NS_USER])
		return true;
	return ns_owner(n) == ns[INIT_NS_USER];
}

static void put_ns(struct line *d, const struct prove *p, enum init_ns n)
{
	line_put(d, ns_paths[n] + strlen("/proc/self/ns/"));
	line_put(d, ":[");
	line_put_num(d, (long long)p->report->ns[n]);
	line_put(d, "]");
}

/* Is ID the number that the kernel shows for an id without a number here? */
static bool is_unmapped(uint64_t id, const char *sysctl)
{
	struct facts_map value;
	char text[32];

	if (id == 65534) /* the default; another value costs a read */
		return true;
	/* The parser reads up to three numbers; this file has one. */
	if (rt_read_file(sysctl, text, sizeof(text)) < 0)
		return false;
	(void)facts_parse_map(text, &value);
	return value.inside == id;
}

/* Every extent of both maps is one that was asked for, and none is missing. */
static bool is_asked_map(const char *path, const char *asked)
{
	char text[512];

	return !asked || (rt_read_file(path, text, sizeof(text)) >= 0 && facts_map_is(text, asked));
}

/*
 * Files of /proc belong to the host's root. If that owner has a number here, of a user or a group, a process here may be
 * the host's root.
 */
static void prove_user(struct prove *p)
{
	struct line d = proof_line(p, LAYER_USER_NS);
	struct facts_map map = { 0 };
	char text[512];
	struct stat st;
	bool holds;

	holds = rt_read_file("/proc/self/uid_map", text, sizeof(text)) >= 0 && facts_parse_map(text, &map) &&
		SYS(newfstatat, AT_FDCWD, "/proc/version", &st, 0) == 0;
	line_put(&d, "uid_map ");
	line_put_num(&d, (long long)map.inside);
	line_put(&d, " ");
	line_put_num(&d, (long long)map.outside);
	line_put(&d, " ");
	line_put_num(&d, (long long)map.count);
	if (holds && !is_unmapped(st.st_uid, "/proc/sys/kernel/overflowuid")) {
		line_put(&d, ", root of the host is mapped as uid ");
		line_put_num(&d, st.st_uid);
		holds = false;
	} else if (holds && !is_unmapped(st.st_gid, "/proc/sys/kernel/overflowgid")) {
		line_put(&d, ", group root of the host is mapped as gid ");
		line_put_num(&d, st.st_gid);
		holds = false;
	} else if (holds && (!is_asked_map("/proc/self/uid_map", p->options->uid_map) ||
			     !is_asked_map("/proc/self/gid_map", p->options->gid_map))) {
		line_put(&d, ", the mapped ids are not those that were requested");
		holds = false;
	}
	proof_set(p, LAYER_USER_NS, holds && p->report->ns[INIT_NS_USER] != ns_initial[INIT_NS_USER], 0);
}

/* A further command sees the others; its parent is init, and the number of its namespace is compared outside. */
static void prove_pid_of_child(struct prove *p, struct line *d, long pid, const char *self)
{
	char text[16];
	struct line own = LINE(text);
	long parent = SYS(getppid);

	line_put_num(&own, pid);
	line_put(d, ", parent ");
	line_put_num(d, parent);
	proof_set(p, LAYER_PID_NS,
		  pid > 1 && parent == 1 && strcmp(self, text) == 0 && ns_is_own(p, INIT_NS_PID), 0);
}

static void prove_pid(struct prove *p)
{
	struct line d = proof_line(p, LAYER_PID_NS);
	long pid = SYS(getpid), tried;
	char self[16] = "";

	(void)SYS(readlinkat, AT_FDCWD, "/proc/self", self, sizeof(self) - 1);
	line_put(&d, "pid ");
	line_put_num(&d, pid);
	line_put(&d, ", /proc/self -> ");
	line_put(&d, self);
	if (p->options->exec) {
		prove_pid_of_child(p, &d, pid, self);
		return;
	}
	tried = SYS(kill, -1, 0); /* every process that is visible, except itself */
	line_put(&d, tried == -ESRCH ? ", no other process visible" : ", other processes are visible");
	proof_set(p, LAYER_PID_NS, pid == 1 && strcmp(self, "1") == 0 && tried == -ESRCH, tried);
}

/* connect() of a datagram socket only looks up a route: no packet is sent. */
static long try_network(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = 0x0900,
		.sin_addr.s_addr = __builtin_bswap32(0xC0000201), /* 192.0.2.1, reserved for documentation */
	};
	long fd, r;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "addresses above are written for little endian"
#endif
	fd = SYS(socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	r = SYS(connect, fd, &to, sizeof(to));
	(void)SYS(close, fd);
	return r;
}

/* With allowed hosts: connections arrive at custody-egress or nowhere. */
static bool prove_routes(struct line *d)
{
	char text[8192];
	const char *bad = "";
	size_t len = 0;
	long n;

	if (rt_read_file("/proc/net/dev", text, sizeof(text)) < 0 || !facts_has_only_loopback(text)) {
		line_put(d, ", a device beside lo");
		return false;
	}
	if (rt_read_file("/proc/net/fib_trie", text, sizeof(text)) < 0) {
		line_put(d, ", routes cannot be read");
		return false;
	}
	if (!facts_has_only_own_routes(text, &bad, &len)) {
		line_put(d, ", route ");
		line_put_bytes(d, bad, len);
		return false;
	}
	/* Missing in a kernel without IPv6. */
	n = rt_read_file("/proc/net/ipv6_route", text, sizeof(text));
	if (n == -ENOENT || (n >= 0 && facts_has_no_ipv6_route(text)))
		return true;
	line_put(d, ", a route of IPv6");
	return false;
}

static void prove_net(struct prove *p)
{
	struct line d = proof_line(p, LAYER_NET_NS);
	long tried = try_network();

	bool holds = tried < 0 && ns_is_own(p, INIT_NS_NET);

	put_ns(&d, p, INIT_NS_NET);
	line_put(&d, tried == 0 ? ", a route to 192.0.2.1" : ", no route out");
	if (p->options->egress && !prove_routes(&d))
		holds = false;
	proof_set(p, LAYER_NET_NS, holds, tried);
}

static void prove_cgroup(struct prove *p)
{
	struct line d = proof_line(p, LAYER_CGROUP_NS);
	char text[4096];
	const char *path = "";
	size_t len = 0;
	bool root;

	root = rt_read_file("/proc/self/cgroup", text, sizeof(text)) >= 0 &&
	       facts_cgroup_is_root(text, &path, &len);
	put_ns(&d, p, INIT_NS_CGROUP);
	line_put(&d, ", path ");
	line_put_bytes(&d, path, len);
	proof_set(p, LAYER_CGROUP_NS, root && ns_is_own(p, INIT_NS_CGROUP), 0);
}

/* For a namespace without a testable effect, its inode number and owner are the proof. */
static void prove_plain(struct prove *p, enum layer l, enum init_ns n)
{
	struct line d = proof_line(p, l);

	put_ns(&d, p, n);
	proof_set(p, l, ns_is_own(p, n), 0);
}

void prove_namespaces(struct prove *p)
{
	for (unsigned int n = 0; n < _INIT_NS_MAX; n++)
		p->report->ns[n] = ns_inode(ns_paths[n]);
	prove_user(p);
	prove_pid(p);
	prove_net(p);
	prove_cgroup(p);
	prove_plain(p, LAYER_MOUNT_NS, INIT_NS_MNT);
	prove_plain(p, LAYER_IPC_NS, INIT_NS_IPC);
	prove_plain(p, LAYER_UTS_NS, INIT_NS_UTS);
}
