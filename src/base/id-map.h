/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/str.h"

/*
 * Ids of a user namespace: extents of uids and of gids, each "INSIDE OUTSIDE COUNT" as in uid_map.  A map without extents
 * is no map.
 */
#define ID_EXTENTS_MAX \
	5 /* of each kind: the kernel returns more of them in another order than they were written in */

struct id_extent {
	uint32_t inside, outside, count;
};

struct id_extents {
	struct id_extent at[ID_EXTENTS_MAX];
	unsigned int n;
};

struct id_map {
	struct id_extents uid, gid;
};

static inline bool id_map_is_set(const struct id_map *m)
{
	return m && m->uid.n > 0;
}

/* Of consecutive ids inside, which begin with 0. */
uint32_t id_extents_count(const struct id_extents *e);
/* The id outside of INSIDE; false if it has none. */
bool id_extents_find(const struct id_extents *e, uint32_t inside, uint32_t *ret);
/* "0:1000:1,1:100000:65535" */
void id_extents_write(const struct id_extents *e, struct strbuf *b);

/* The same ids, each with its own number inside. */
struct id_map id_map_identity(const struct id_map *m);

/* Two lines, "uid EXTENTS" and "gid EXTENTS": heap, NULL without memory. */
char *id_map_to_text(const struct id_map *m);
int id_map_parse(const char *text, struct id_map *ret, struct fault *f) _must_check_;
