/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

/*
 * Kinds of addresses: a name in the public DNS may have any of them, so a tool connects only to those that it declares.
 * Addresses of IPv6 that carry one of IPv4 are of its kind.
 */
enum rest_address {
	REST_ADDRESS_NEVER, /* unspecified, multicast, reserved, of another family */
	REST_ADDRESS_PUBLIC,
	REST_ADDRESS_PRIVATE, /* RFC 1918, RFC 6598, fc00::/7 ... */
	REST_ADDRESS_LINK_LOCAL,
	REST_ADDRESS_LOOPBACK,
};

enum rest_address rest_address_kind(const struct sockaddr *a, socklen_t len);
bool rest_address_is_name(const char *name); /* "public", "private", "link-local", "loopback" */
bool rest_address_fits(char *const *names, enum rest_address kind); /* NEVER fits none */
