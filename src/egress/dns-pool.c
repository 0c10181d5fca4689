/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/dns-pool.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <search.h>
#include <string.h>

struct dns_pool {
	/* A balanced tree: the payload chooses names under a wildcard, so their order must not cost time. */
	void *by_name;
	struct pair **entries; /* ENTRIES[i] has the address DNS_POOL_NET + 1 + i */
	size_t count, room, max;
};

struct pair {
	size_t index;
	char name[HOSTNAME_SIZE];
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct pair *)a)->name, ((const struct pair *)b)->name);
}

static struct in_addr address_of(const struct pair *e)
{
	return (struct in_addr){ .s_addr = htonl(DNS_POOL_NET + 1 + (uint32_t)e->index) };
}

int dns_pool_new(size_t names_max, struct dns_pool **ret)
{
	struct dns_pool *p;

	assert(names_max > 0 && names_max <= DNS_POOL_NAMES_MAX);
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->max = names_max;
	*ret = p;
	return 0;
}

void dns_pool_free(struct dns_pool *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->count; i++) {
		(void)tdelete(p->entries[i], &p->by_name, compare);
		free(p->entries[i]);
	}
	free((void *)p->entries);
	free(p);
}

static int grow(struct dns_pool *p)
{
	const size_t room = p->room ? 2 * p->room : 16;
	struct pair **entries;

	if (p->count < p->room)
		return 0;
	entries = (struct pair **)realloc((void *)p->entries, room * sizeof(struct pair *));
	if (!entries)
		return -ENOMEM;
	p->entries = entries;
	p->room = room;
	return 0;
}

static int add(struct dns_pool *p, const struct pair *key, struct in_addr *ret)
{
	_cleanup_free_ struct pair *e = NULL;
	int r;

	if (p->count == p->max)
		return -ENOSPC;
	r = grow(p);
	if (r < 0)
		return r;
	e = malloc(sizeof(*e));
	if (!e)
		return -ENOMEM;
	*e = *key;
	e->index = p->count;
	if (!tsearch(e, &p->by_name, compare))
		return -ENOMEM;
	*ret = address_of(e);
	p->entries[p->count++] = TAKE_PTR(e);
	return 0;
}

int dns_pool_get(struct dns_pool *p, const char *name, struct in_addr *ret)
{
	const size_t len = strlen(name);
	struct pair key = { 0 };
	const void *node;

	assert(len > 0 && len < HOSTNAME_SIZE);
	memcpy(key.name, name, len + 1);
	node = tfind(&key, &p->by_name, compare);
	if (!node)
		return add(p, &key, ret);
	*ret = address_of(*(const struct pair *const *)node);
	return 0;
}

const char *dns_pool_find(const struct dns_pool *p, struct in_addr a)
{
	const uint32_t number = ntohl(a.s_addr);

	if (number <= DNS_POOL_NET || number - DNS_POOL_NET > p->count)
		return NULL;
	return p->entries[number - DNS_POOL_NET - 1]->name;
}

size_t dns_pool_count(const struct dns_pool *p)
{
	return p->count;
}
