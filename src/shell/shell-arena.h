/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "base/cleanup.h"

/*
 * Memory of one classification: freed all at once, with a limit on the memory that untrusted text can use. A
 * failed allocation is stored in `error`: -ENOMEM, or -E2BIG at the limit.
 */
#define ARENA_LIMIT ((size_t)8 * 1024 * 1024)

struct arena_chunk {
	struct arena_chunk *next;
	_Alignas(16) char bytes[];
};

struct arena {
	struct arena_chunk *chunks;
	char *at, *end;
	size_t total;
	int error;
	_Alignas(16) char first[3072]; /* enough for a common command */
};

void arena_init(struct arena *a);
void *arena_alloc(struct arena *a, size_t size); /* not zeroed; NULL: see `error` */
char *arena_text(struct arena *a, const char *text, size_t len);
void arena_done(struct arena *a);
#define _cleanup_arena_ _cleanup_(arena_done)
