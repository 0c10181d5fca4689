/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the files of an upper with those of the base, after the walk, with several threads: no file depends on another, and
 * most of the time is spent in the kernel.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "review/changes-impl.h"

#define THREADS_MAX 4
#define PIECE 64      /* neighbours share their directory */
#define FILES_MIN 512 /* fewer are not worth a thread */

struct work {
	struct collect *collect;
	atomic_size_t next;
	atomic_bool failed;
};

struct worker {
	struct work *work;
	pthread_t thread;
	int error;
	struct fault fault;
};

int changes_add_later(struct collect *c, struct fault *f)
{
	if (c->n_later == c->room_later) {
		size_t room = c->room_later ? c->room_later * 2 : 64;
		size_t *grown = reallocarray(c->later, room, sizeof(*grown));

		if (!grown)
			return fault_errno(f, ENOMEM, "changes");
		c->later = grown;
		c->room_later = room;
	}
	c->later[c->n_later++] = c->list->n - 1;
	return 0;
}

static int judge_piece(const struct collect *c, struct collect *own, size_t from, struct fault *f)
{
	int r = 0;

	for (size_t i = from; i < c->n_later && i < from + PIECE && r == 0; i++)
		r = changes_judge(own, &c->list->items[c->later[i]], NULL, f);
	return r;
}

/* With descriptors of its own.  It adds nothing to the list. */
static void *judge_pieces(void *arg)
{
	struct worker *x = arg;
	struct work *w = x->work;
	const struct collect *c = w->collect;
	struct collect own = { .ask = c->ask, .list = c->list, .base = TREE_AT_NONE, .upper = TREE_AT_NONE };
	int r = tree_at_init(&own.base, c->ask->base, &x->fault);

	if (r == 0)
		r = tree_at_init(&own.upper, c->ask->upper, &x->fault);
	while (r == 0 && !atomic_load(&w->failed)) {
		size_t from = atomic_fetch_add(&w->next, PIECE);

		if (from >= c->n_later)
			break;
		r = judge_piece(c, &own, from, &x->fault);
	}
	if (r < 0)
		atomic_store(&w->failed, true);
	x->error = r;
	changes_collect_done(&own);
	return NULL;
}

static size_t threads_for(const struct collect *c)
{
	const size_t min = c->ask->files_min ? c->ask->files_min : FILES_MIN;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return c->n_later < min || cpus < 2 ? 1 : cpus < THREADS_MAX ? (size_t)cpus : THREADS_MAX;
}

static int judge_all(struct collect *c, struct fault *f)
{
	struct work w = { .collect = c };
	struct worker x[THREADS_MAX] = { 0 };
	size_t wanted = threads_for(c), started = 1;
	int r = 0;

	for (size_t i = 0; i < wanted; i++)
		x[i].work = &w;
	/* Without a thread the others do its work. */
	while (started < wanted && pthread_create(&x[started].thread, NULL, judge_pieces, &x[started]) == 0)
		started++;
	(void)judge_pieces(&x[0]);
	for (size_t i = 1; i < started; i++)
		(void)pthread_join(x[i].thread, NULL);
	for (size_t i = 0; i < started; i++) {
		if (x[i].error < 0 && r == 0)
			r = fault_set(f, -x[i].error, "%s", fault_text(&x[i].fault));
		fault_done(&x[i].fault);
	}
	return r;
}

int changes_judge_later(struct collect *c, struct fault *f)
{
	int r = c->n_later ? judge_all(c, f) : 0;

	for (size_t i = 0; i < c->n_later && r == 0; i++) {
		const struct change *ch = &c->list->items[c->later[i]];

		if (ch->kind == CHANGE_REPLACED && S_ISDIR(ch->old.mode))
			r = changes_delete(c, ch->path, false, f);
	}
	return r;
}
