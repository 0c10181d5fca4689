/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/dns-pool.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "base/str.h"

#include "tap.h"

static struct in_addr number(uint32_t n)
{
	return (struct in_addr){ .s_addr = htonl(n) };
}

static void DOOR_3_a_name_keeps_its_address(void)
{
	_cleanup_dns_pool_ struct dns_pool *p = NULL;
	struct in_addr a, b, again;

	CHECK(dns_pool_new(10, &p) == 0);
	CHECK(dns_pool_get(p, "a.test", &a) == 0 && a.s_addr == htonl(0xc6120001));
	CHECK(dns_pool_get(p, "b.test", &b) == 0 && b.s_addr == htonl(0xc6120002));
	CHECK(dns_pool_get(p, "a.test", &again) == 0 && again.s_addr == a.s_addr);
	CHECK(dns_pool_count(p) == 2);
	CHECK(str_eq(dns_pool_find(p, a), "a.test") && str_eq(dns_pool_find(p, b), "b.test"));
}

static void DOOR_3_other_addresses_have_no_name(void)
{
	static const uint32_t none[] = { 0,	     0x7f000001, 0xc6120000, 0xc6120002, 0xc613ffff,
					 0xc6140001, 0xc611ffff, 0xffffffff, 0x01000012 };
	_cleanup_dns_pool_ struct dns_pool *p = NULL;
	struct in_addr a;

	CHECK(dns_pool_new(10, &p) == 0 && !dns_pool_find(p, number(0xc6120001)));
	CHECK(dns_pool_get(p, "a.test", &a) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		CHECK(!dns_pool_find(p, number(none[i])));
}

static void DOOR_3_a_full_pool_keeps_its_names(void)
{
	_cleanup_dns_pool_ struct dns_pool *p = NULL;
	struct in_addr a;

	CHECK(dns_pool_new(2, &p) == 0);
	CHECK(dns_pool_get(p, "a", &a) == 0 && dns_pool_get(p, "b", &a) == 0);
	a = number(1);
	CHECK(dns_pool_get(p, "c", &a) == -ENOSPC && a.s_addr == htonl(1));
	CHECK(dns_pool_get(p, "a", &a) == 0 && a.s_addr == htonl(0xc6120001));
	CHECK(dns_pool_count(p) == 2 && !dns_pool_find(p, number(0xc6120003)));
}

static void DOOR_3_every_address_of_the_network_but_first_and_last(void)
{
	_cleanup_dns_pool_ struct dns_pool *p = NULL;
	const uint32_t names = tap_stride() > 1 ? 3000 : DNS_POOL_NAMES_MAX;
	struct in_addr a;
	char name[32];

	CHECK(dns_pool_new(DNS_POOL_NAMES_MAX, &p) == 0);
	for (uint32_t i = 0; i < names; i++) {
		(void)snprintf(name, sizeof(name), "n%u.test", i);
		CHECK(dns_pool_get(p, name, &a) == 0 && ntohl(a.s_addr) == 0xc6120001 + i);
	}
	for (uint32_t i = 0; i < names; i++) {
		(void)snprintf(name, sizeof(name), "n%u.test", i);
		CHECK(str_eq(dns_pool_find(p, number(0xc6120001 + i)), name));
	}
	CHECK(names < DNS_POOL_NAMES_MAX || dns_pool_get(p, "more", &a) == -ENOSPC);
	CHECK(!dns_pool_find(p, number(0xc613ffff)) && !dns_pool_find(p, number(0xc6120000)));
}

TAP_MAIN(T(DOOR_3_a_name_keeps_its_address), T(DOOR_3_other_addresses_have_no_name),
	 T(DOOR_3_a_full_pool_keeps_its_names), T(DOOR_3_every_address_of_the_network_but_first_and_last))
