/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/inode-set.h"

#include <stdint.h>
#include <stdlib.h>

#define SIZE_FIRST 64

static struct inode_slot *find(struct inode_slot *slots, size_t size, dev_t dev, ino_t ino)
{
	size_t i = (size_t)(((uint64_t)ino ^ (uint64_t)dev << 32) * UINT64_C(0x9e3779b97f4a7c15) >> 20);

	for (;; i++) {
		struct inode_slot *s = &slots[i & (size - 1)];

		if (!s->used || (s->ino == ino && s->dev == dev))
			return s;
	}
}

static bool grow(struct inode_set *s)
{
	size_t size = s->size ? s->size * 2 : SIZE_FIRST;
	struct inode_slot *slots = calloc(size, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < s->size; i++)
		if (s->slots[i].used)
			*find(slots, size, s->slots[i].dev, s->slots[i].ino) = s->slots[i];
	free(s->slots);
	s->slots = slots;
	s->size = size;
	return true;
}

bool inode_set_add(struct inode_set *s, dev_t dev, ino_t ino)
{
	struct inode_slot *slot;

	if (s->n * 2 >= s->size && !grow(s))
		return true;
	slot = find(s->slots, s->size, dev, ino);
	if (slot->used)
		return false;
	*slot = (struct inode_slot){ .dev = dev, .ino = ino, .used = true };
	s->n++;
	return true;
}

void inode_set_done(struct inode_set *s)
{
	free(s->slots);
	*s = (struct inode_set){ 0 };
}
