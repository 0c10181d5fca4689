/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-verify-notes.h"

#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b, void *arg)
{
	const struct checkpoint *notes = arg;
	uint64_t x = notes[*(const size_t *)a].mark.size, y = notes[*(const size_t *)b].mark.size;

	return x < y ? -1 : x > y;
}

bool verify_notes_init(struct verify_notes *n, const struct ledger_verify_options *o)
{
	*n = (struct verify_notes){ .o = o,
				    .order = calloc(o->n_checkpoints + 1, sizeof(*n->order)),
				    .seen = calloc(o->n_checkpoints + 1, sizeof(*n->seen)) };
	if (!n->order || !n->seen)
		return false;
	for (size_t i = 0; i < o->n_checkpoints; i++)
		n->order[i] = i;
	if (o->n_checkpoints > 0)
		qsort_r(n->order, o->n_checkpoints, sizeof(*n->order), by_size,
			(void *)(uintptr_t)o->checkpoints);
	return true;
}

void verify_notes_done(struct verify_notes *n)
{
	free(n->order);
	free(n->seen);
	*n = (struct verify_notes){ 0 };
}

bool verify_notes_is_own(const struct verify_notes *n, size_t i)
{
	return i >= n->o->n_checkpoints - n->o->n_local &&
	       !(n->o->key && checkpoint_verify(&n->o->checkpoints[i], n->o->key));
}

bool verify_notes_meet(struct verify_notes *n, uint64_t size, const struct digest *head, bool *ret_backed)
{
	const struct checkpoint *notes = n->o->checkpoints;

	*ret_backed = false;
	while (n->at < n->o->n_checkpoints && notes[n->order[n->at]].mark.size < size)
		n->at++;
	for (; n->at < n->o->n_checkpoints && notes[n->order[n->at]].mark.size == size; n->at++) {
		const size_t i = n->order[n->at];

		n->seen[i] = true;
		if (memcmp(&notes[i].mark.head, head, sizeof(*head)) != 0)
			return false;
		*ret_backed = *ret_backed || !verify_notes_is_own(n, i);
	}
	return true;
}
