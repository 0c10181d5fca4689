/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/egress-net.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "egress/dns-pool.h"
#include "profile/host-rule.h"

#define BACKLOG 256

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(EGRESS_LISTENERS_MAX * sizeof(int))];
};

struct report {
	int32_t code; /* 0: the descriptors come with it */
	char text[256];
};

static int open_namespace(pid_t pid, const char *name, struct fault *f)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? fault_errno(f, errno, "open '%s'", path) : fd;
}

/* The user namespace first: it gives the power over the other. */
static int join(pid_t pid, struct fault *f)
{
	_cleanup_close_ int user = open_namespace(pid, "user", f);
	_cleanup_close_ int net = user < 0 ? -EBADF : open_namespace(pid, "net", f);

	if (user < 0 || net < 0)
		return user < 0 ? user : net;
	if (setns(user, CLONE_NEWUSER) < 0)
		return fault_errno(f, errno, "join the user namespace");
	if (setns(net, CLONE_NEWNET) < 0)
		return fault_errno(f, errno, "join the network namespace");
	return 0;
}

static int set_up(struct fault *f)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq q = { .ifr_name = "lo" };

	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &q) < 0)
		return fault_errno(f, errno, "loopback device");
	q.ifr_flags |= IFF_UP;
	return ioctl(fd, SIOCSIFFLAGS, &q) < 0 ? fault_errno(f, errno, "bring lo up") : 0;
}

/* As `ip route add local 198.18.0.0/15 dev lo`. */
struct route_request {
	struct nlmsghdr h;
	struct rtmsg m;
	struct rtattr dst_head;
	uint32_t dst;
	struct rtattr oif_head;
	uint32_t oif;
};

struct route_answer {
	struct nlmsghdr h;
	struct nlmsgerr e;
	char rest[256];
};

static int add_route(struct fault *f)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	const struct route_request q = {
		.h = { .nlmsg_len = sizeof(q),
		       .nlmsg_type = RTM_NEWROUTE,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL },
		.m = { .rtm_family = AF_INET,
		       .rtm_dst_len = DNS_POOL_BITS,
		       .rtm_table = RT_TABLE_LOCAL,
		       .rtm_protocol = RTPROT_STATIC,
		       .rtm_scope = RT_SCOPE_HOST,
		       .rtm_type = RTN_LOCAL },
		.dst_head = { .rta_len = RTA_LENGTH(sizeof(uint32_t)), .rta_type = RTA_DST },
		.dst = htonl(DNS_POOL_NET),
		.oif_head = { .rta_len = RTA_LENGTH(sizeof(uint32_t)), .rta_type = RTA_OIF },
		.oif = if_nametoindex("lo"),
	};
	struct route_answer a = { 0 };

	if (fd < 0 || send(fd, &q, sizeof(q), 0) < 0)
		return fault_errno(f, errno, "route to 198.18.0.0/15");
	if (recv(fd, &a, sizeof(a), 0) < (ssize_t)(sizeof(a.h) + sizeof(a.e)) ||
	    a.h.nlmsg_type != NLMSG_ERROR)
		return fault_set(f, EIO, "route to 198.18.0.0/15: no answer of the kernel");
	return a.e.error ? fault_errno(f, -a.e.error, "route to 198.18.0.0/15") : 0;
}

static int bind_to(uint32_t address, uint16_t port, int type, int *ret, struct fault *f)
{
	const struct sockaddr_in a = { .sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(address) };
	_cleanup_close_ int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		return fault_errno(f, errno, "bind port %u", port);
	if (type == SOCK_STREAM && listen(fd, BACKLOG) < 0)
		return fault_errno(f, errno, "listen on port %u", port);
	*ret = TAKE_FD(fd);
	return 0;
}

static int bind_all(const uint16_t *ports, size_t n_ports, int *fds, struct fault *f)
{
	int r = bind_to(INADDR_LOOPBACK, HOST_RULE_PORT_DNS, SOCK_DGRAM, &fds[EGRESS_LISTEN_DNS_UDP], f);

	if (r == 0)
		r = bind_to(INADDR_LOOPBACK, HOST_RULE_PORT_DNS, SOCK_STREAM, &fds[EGRESS_LISTEN_DNS_TCP], f);
	if (r == 0)
		r = bind_to(INADDR_LOOPBACK, HOST_RULE_PORT_PROXY, SOCK_STREAM, &fds[EGRESS_LISTEN_PROXY], f);
	for (size_t i = 0; r == 0 && i < n_ports; i++)
		r = bind_to(INADDR_ANY, ports[i], SOCK_STREAM, &fds[EGRESS_LISTEN_PORTS + i], f);
	return r;
}

static void fill_header(struct msghdr *h, struct iovec *iov, union control *control, size_t n)
{
	*h = (struct msghdr){ .msg_iov = iov,
			      .msg_iovlen = 1,
			      .msg_control = n ? control->bytes : NULL,
			      .msg_controllen = n ? CMSG_SPACE(n * sizeof(int)) : 0 };
}

/* In the child: never returns. */
static _Noreturn void work(pid_t pid, const uint16_t *ports, size_t n_ports, int link)
{
	_cleanup_fault_ struct fault f = { 0 };
	const size_t n = EGRESS_LISTEN_PORTS + n_ports;
	struct report m = { 0 };
	struct iovec iov = { &m, sizeof(m) };
	union control control = { 0 };
	int fds[EGRESS_LISTENERS_MAX], r;
	struct msghdr h;

	r = join(pid, &f);
	if (r == 0)
		r = set_up(&f);
	if (r == 0)
		r = add_route(&f);
	if (r == 0)
		r = bind_all(ports, n_ports, fds, &f);
	fill_header(&h, &iov, &control, r == 0 ? n : 0);
	if (r < 0) {
		m.code = -r;
		(void)snprintf(m.text, sizeof(m.text), "%s", fault_text(&f));
	} else {
		struct cmsghdr *c = CMSG_FIRSTHDR(&h);

		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	_exit(sendmsg(link, &h, MSG_NOSIGNAL) < 0);
}

static int receive(int link, size_t n, int *ret, struct fault *f)
{
	struct report m = { 0 };
	struct iovec iov = { &m, sizeof(m) };
	union control control;
	const struct cmsghdr *c;
	struct msghdr h;
	ssize_t len;

	fill_header(&h, &iov, &control, n);
	do
		len = recvmsg(link, &h, MSG_CMSG_CLOEXEC);
	while (len < 0 && errno == EINTR);
	m.text[sizeof(m.text) - 1] = '\0';
	if (len != sizeof(m))
		return fault_set(f, EIO,
				 "network of the container: its process exited without reporting an error");
	if (m.code)
		return fault_set(f, m.code, "network of the container: %s", m.text);
	c = CMSG_FIRSTHDR(&h);
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(n * sizeof(int)))
		return fault_set(f, EIO, "network of the container: no listeners");
	memcpy(ret, CMSG_DATA(c), n * sizeof(int));
	return 0;
}

int egress_net_prepare(pid_t pid, const uint16_t *ports, size_t n_ports, int *ret_fds, struct fault *f)
{
	_cleanup_close_ int link = -EBADF;
	pid_t child;
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fault_errno(f, errno, "network of the container");
	link = pair[0];
	child = fork();
	if (child == 0)
		work(pid, ports, n_ports, pair[1]);
	(void)fd_close(pair[1]);
	if (child < 0)
		return fault_errno(f, errno, "network of the container");
	r = receive(link, EGRESS_LISTEN_PORTS + n_ports, ret_fds, f);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}
