/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <netinet/in.h>

#include "base/hostname.h"

/*
 * Names of allowed hosts and their addresses inside the session, 198.18.0.1 and above.  A pair stays as long as the pool: an address
 * that was given for one name never means another one.  Names are canonical (hostname_parse).
 */
#define DNS_POOL_NET 0xc6120000 /* 198.18.0.0/15 */
#define DNS_POOL_BITS 15
#define DNS_POOL_NAMES_MAX 131070 /* without the first and the last address */

struct dns_pool;

/* NAMES_MAX: 1 to DNS_POOL_NAMES_MAX.  -ENOMEM. */
int dns_pool_new(size_t names_max, struct dns_pool **ret) _must_check_;
void dns_pool_free(struct dns_pool *p);
DEFINE_CLEANUP(struct dns_pool, dns_pool_free)
#define _cleanup_dns_pool_ _cleanup_(dns_pool_freep)

/* The address of NAME, added if new.  -ENOSPC: the pool is full; names in it keep working.  -ENOMEM. */
int dns_pool_get(struct dns_pool *p, const char *name, struct in_addr *ret) _must_check_;
/* NULL: no name has this address.  The text belongs to the pool and stays. */
const char *dns_pool_find(const struct dns_pool *p, struct in_addr a);
size_t dns_pool_count(const struct dns_pool *p);
