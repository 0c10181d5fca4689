/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "base/cleanup.h"

/*
 * Memory of one judgement: everything is freed at once, and how much a stranger's text may cost has a limit.
 * A failed allocation is remembered: -ENOMEM, or -E2BIG when the limit was reached.
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
	_Alignas(16) char first[3072]; /* an everyday command fits in here */
};

void arena_init(struct arena *a);
void *arena_alloc(struct arena *a, size_t size); /* not zeroed; NULL: see `error` */
char *arena_text(struct arena *a, const char *text, size_t len);
void arena_done(struct arena *a);
#define _cleanup_arena_ _cleanup_(arena_done)
