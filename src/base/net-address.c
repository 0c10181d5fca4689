/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/net-address.h"

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"

static const char *const names[] = {
	[NET_ADDRESS_PUBLIC] = "public",
	[NET_ADDRESS_PRIVATE] = "private",
	[NET_ADDRESS_LINK_LOCAL] = "link-local",
	[NET_ADDRESS_LOOPBACK] = "loopback",
};

struct net {
	uint8_t bytes[16];
	unsigned int bits;
	enum net_address kind;
};

/* clang-format off */
static const struct net nets4[] = {
	{ { 0 },              8, NET_ADDRESS_NEVER },
	{ { 10 },             8, NET_ADDRESS_PRIVATE },
	{ { 100, 64 },       10, NET_ADDRESS_PRIVATE },
	{ { 127 },            8, NET_ADDRESS_LOOPBACK },
	{ { 168, 63, 129, 16 }, 32, NET_ADDRESS_LINK_LOCAL }, /* Azure's host: metadata, agent, DNS of each machine */
	{ { 169, 254 },      16, NET_ADDRESS_LINK_LOCAL },
	{ { 172, 16 },       12, NET_ADDRESS_PRIVATE },
	{ { 192, 0, 0 },     24, NET_ADDRESS_NEVER },
	{ { 192, 0, 2 },     24, NET_ADDRESS_NEVER },
	{ { 192, 168 },      16, NET_ADDRESS_PRIVATE },
	{ { 198, 18 },       15, NET_ADDRESS_PRIVATE },
	{ { 198, 51, 100 },  24, NET_ADDRESS_NEVER },
	{ { 203, 0, 113 },   24, NET_ADDRESS_NEVER },
	{ { 224 },            4, NET_ADDRESS_NEVER },
	{ { 240 },            4, NET_ADDRESS_NEVER },
};
/* Outside of 2000::/3 nothing is public. */
static const struct net nets6[] = {
	{ { [15] = 1 },                    128, NET_ADDRESS_LOOPBACK },
	{ { 0xfc },                          7, NET_ADDRESS_PRIVATE },
	{ { 0xfe, 0x80 },                   10, NET_ADDRESS_LINK_LOCAL },
	{ { 0xfe, 0xc0 },                   10, NET_ADDRESS_PRIVATE },
	{ { 0x20, 0x01, 0x00 },             23, NET_ADDRESS_NEVER },
	{ { 0x20, 0x01, 0x0d, 0xb8 },       32, NET_ADDRESS_NEVER },
	{ { 0x3f, 0xff },                   20, NET_ADDRESS_NEVER },
	{ { 0x20 },                          3, NET_ADDRESS_PUBLIC },
	{ { 0 },                             0, NET_ADDRESS_NEVER },
};
/* An address of IPv4 follows the prefix: mapped, NAT64, 6to4. */
static const struct net carriers[] = {
	{ { [10] = 0xff, 0xff },            96, NET_ADDRESS_NEVER },
	{ { 0x00, 0x64, 0xff, 0x9b },       96, NET_ADDRESS_NEVER },
	{ { 0x20, 0x02 },                   16, NET_ADDRESS_NEVER },
};
/* clang-format on */

static bool is_in(const uint8_t *address, const struct net *n)
{
	const unsigned int whole = n->bits / 8, rest = n->bits % 8;
	const uint8_t mask = (uint8_t)(0xff << (8 - rest));

	return memcmp(address, n->bytes, whole) == 0 &&
	       (rest == 0 || ((address[whole] ^ n->bytes[whole]) & mask) == 0);
}

static enum net_address kind4(const uint8_t *address)
{
	for (size_t i = 0; i < ARRAY_SIZE(nets4); i++)
		if (is_in(address, &nets4[i]))
			return nets4[i].kind;
	return NET_ADDRESS_PUBLIC;
}

static enum net_address kind6(const uint8_t *address)
{
	for (size_t i = 0; i < ARRAY_SIZE(carriers); i++)
		if (is_in(address, &carriers[i]))
			return kind4(address + carriers[i].bits / 8);
	for (size_t i = 0; i < ARRAY_SIZE(nets6); i++)
		if (is_in(address, &nets6[i]))
			return nets6[i].kind;
	return NET_ADDRESS_NEVER;
}

enum net_address net_address_kind(const struct sockaddr *a, socklen_t len)
{
	if (a->sa_family == AF_INET && len >= sizeof(struct sockaddr_in))
		return kind4((const uint8_t *)&((const struct sockaddr_in *)(const void *)a)->sin_addr);
	if (a->sa_family == AF_INET6 && len >= sizeof(struct sockaddr_in6))
		return kind6(((const struct sockaddr_in6 *)(const void *)a)->sin6_addr.s6_addr);
	return NET_ADDRESS_NEVER;
}

bool net_address_is_name(const char *name)
{
	for (size_t i = NET_ADDRESS_PUBLIC; i < ARRAY_SIZE(names); i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

bool net_address_fits(char *const *list, enum net_address kind)
{
	return kind != NET_ADDRESS_NEVER && strv_has(list, names[kind]);
}
