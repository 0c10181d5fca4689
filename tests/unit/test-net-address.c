/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/net-address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "tap.h"

static enum net_address kind(const char *text)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_in four = { .sin_family = AF_INET };

	if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
		return net_address_kind((const struct sockaddr *)&four, sizeof(four));
	if (inet_pton(AF_INET6, text, &six.sin6_addr) != 1)
		abort();
	return net_address_kind((const struct sockaddr *)&six, sizeof(six));
}

static void LANE_6_kinds_of_addresses(void)
{
	static const struct {
		const char *address;
		enum net_address kind;
	} cases[] = {
		{ "8.8.8.8", NET_ADDRESS_PUBLIC },
		{ "172.32.0.1", NET_ADDRESS_PUBLIC },
		{ "100.128.0.1", NET_ADDRESS_PUBLIC },
		{ "127.0.0.1", NET_ADDRESS_LOOPBACK },
		{ "127.255.255.255", NET_ADDRESS_LOOPBACK },
		{ "10.1.2.3", NET_ADDRESS_PRIVATE },
		{ "172.31.255.255", NET_ADDRESS_PRIVATE },
		{ "192.168.0.1", NET_ADDRESS_PRIVATE },
		{ "100.64.0.1", NET_ADDRESS_PRIVATE },
		{ "169.254.169.254", NET_ADDRESS_LINK_LOCAL },
		{ "168.63.129.16", NET_ADDRESS_LINK_LOCAL },
		{ "168.63.129.17", NET_ADDRESS_PUBLIC },
		{ "::ffff:168.63.129.16", NET_ADDRESS_LINK_LOCAL },
		{ "198.18.0.1", NET_ADDRESS_PRIVATE },
		{ "198.19.255.255", NET_ADDRESS_PRIVATE },
		{ "0.0.0.0", NET_ADDRESS_NEVER },
		{ "0.1.2.3", NET_ADDRESS_NEVER },
		{ "224.0.0.1", NET_ADDRESS_NEVER },
		{ "255.255.255.255", NET_ADDRESS_NEVER },
		{ "::1", NET_ADDRESS_LOOPBACK },
		{ "::", NET_ADDRESS_NEVER },
		{ "::2", NET_ADDRESS_NEVER },
		{ "::127.0.0.1", NET_ADDRESS_NEVER },
		{ "::ffff:127.0.0.1", NET_ADDRESS_LOOPBACK },
		{ "::ffff:10.0.0.1", NET_ADDRESS_PRIVATE },
		{ "::ffff:8.8.8.8", NET_ADDRESS_PUBLIC },
		{ "64:ff9b::a9fe:a9fe", NET_ADDRESS_LINK_LOCAL },
		{ "64:ff9b:1::1", NET_ADDRESS_NEVER },
		{ "2002:7f00:1::1", NET_ADDRESS_LOOPBACK },
		{ "2001::1", NET_ADDRESS_NEVER },
		{ "2001:db8::1", NET_ADDRESS_NEVER },
		{ "2606:4700::1111", NET_ADDRESS_PUBLIC },
		{ "fe80::1", NET_ADDRESS_LINK_LOCAL },
		{ "febf::1", NET_ADDRESS_LINK_LOCAL },
		{ "fc00::1", NET_ADDRESS_PRIVATE },
		{ "fdff::1", NET_ADDRESS_PRIVATE },
		{ "fec0::1", NET_ADDRESS_PRIVATE },
		{ "ff02::1", NET_ADDRESS_NEVER },
		{ "4000::1", NET_ADDRESS_NEVER },
	};
	const struct sockaddr other = { .sa_family = AF_UNIX };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK(kind(cases[i].address) == cases[i].kind);
	CHECK(net_address_kind(&other, sizeof(other)) == NET_ADDRESS_NEVER);
}

static void LANE_6_only_listed_kinds_fit(void)
{
	static char *public_only[] = { (char *)"public", NULL };

	CHECK(net_address_fits(public_only, NET_ADDRESS_PUBLIC));
	CHECK(!net_address_fits(public_only, NET_ADDRESS_LOOPBACK));
	CHECK(!net_address_fits(public_only, NET_ADDRESS_NEVER));
	CHECK(!net_address_fits(NULL, NET_ADDRESS_PUBLIC));
}

TAP_MAIN(T(LANE_6_kinds_of_addresses), T(LANE_6_only_listed_kinds_fit))
