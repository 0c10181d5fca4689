/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * The network of a session with allowed hosts.  Its namespace has the loopback device only, and one route: 198.18.0.0/15, a range
 * that no host on the internet has, is local.  Names get addresses of it (dns-pool.h), so a connection to one arrives at a
 * listener here, and the address that it arrived at tells the name.
 */
enum egress_listener {
	EGRESS_LISTEN_DNS_UDP, /* 127.0.0.1:53 */
	EGRESS_LISTEN_DNS_TCP,
	EGRESS_LISTEN_PROXY, /* 127.0.0.1:3128 */
	EGRESS_LISTEN_PORTS, /* 0.0.0.0:PORT, in the order of the ports */
};
#define EGRESS_LISTENERS_MAX (EGRESS_LISTEN_PORTS + 16)

/*
 * Joins the user and network namespace of PID in a child that ends before this returns, prepares the namespace and binds.  FDS:
 * EGRESS_LISTEN_PORTS + N_PORTS listeners, written on success only.
 */
int egress_net_prepare(pid_t pid, const uint16_t *ports, size_t n_ports, int *ret_fds,
		       struct fault *f) _must_check_;
