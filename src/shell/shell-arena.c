/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shell/shell-arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)16 * 1024)
#define ALIGN ((size_t)16)

void arena_init(struct arena *a)
{
	a->chunks = NULL;
	a->at = a->first;
	a->end = a->first + sizeof(a->first);
	a->total = 0;
	a->error = 0;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_chunk *c;
	size_t room;
	void *p;

	if (a->error)
		return NULL;
	if (size > ARENA_LIMIT) {
		a->error = -E2BIG;
		return NULL;
	}
	size = (size + ALIGN - 1) & ~(ALIGN - 1);
	if ((size_t)(a->end - a->at) < size) {
		room = size > CHUNK ? size : CHUNK;
		if (a->total + room > ARENA_LIMIT) {
			a->error = -E2BIG;
			return NULL;
		}
		c = malloc(sizeof(*c) + room);
		if (!c) {
			a->error = -ENOMEM;
			return NULL;
		}
		c->next = a->chunks;
		a->chunks = c;
		a->total += room;
		a->at = c->bytes;
		a->end = c->bytes + room;
	}
	p = a->at;
	a->at += size;
	return p;
}

char *arena_text(struct arena *a, const char *text, size_t len)
{
	char *p = arena_alloc(a, len + 1);

	if (!p)
		return NULL;
	memcpy(p, text, len);
	p[len] = '\0';
	return p;
}

void arena_done(struct arena *a)
{
	for (struct arena_chunk *c = a->chunks, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	a->chunks = NULL;
}
