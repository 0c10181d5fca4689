/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

/*
 * Kinds of addresses: a name in the public DNS may have any of them, so a connection goes only to declared ones.
 * Addresses of IPv6 that carry one of IPv4 are of its kind.
 */
enum net_address {
	NET_ADDRESS_NEVER, /* unspecified, multicast, reserved, of another family */
	NET_ADDRESS_PUBLIC,
	NET_ADDRESS_PRIVATE, /* RFC 1918, RFC 6598, fc00::/7 ... */
	NET_ADDRESS_LINK_LOCAL,
	NET_ADDRESS_LOOPBACK,
};

enum net_address net_address_kind(const struct sockaddr *a, socklen_t len);
bool net_address_is_name(const char *name); /* "public", "private", "link-local", "loopback" */
bool net_address_fits(char *const *names, enum net_address kind); /* NEVER fits none */
