/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the lines of many changes.  Most of the time is spent in the kernel opening files, so two threads are twice as fast. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cmd-review.h"
#include "tty/progress.h"

#define THREADS_MAX 4
#define PIECE 64      /* changes that a thread takes at once: neighbours share their directory */
#define ALONE_MAX 512 /* changes that are not worth a thread */

struct work {
	const struct review_call *call;
	struct change *const *v;
	size_t n;
	struct review_count *counts;
	atomic_size_t next;
	atomic_bool failed;
	struct progress progress;
};

struct worker {
	struct work *work;
	pthread_t thread;
	int error;
	struct fault fault;
};

/* People see a rename and a repository without numbers. */
static bool is_counted(const struct work *w, const struct change *ch)
{
	return w->call->call->json || (!ch->folded && !ch->pair);
}

static int count_piece(struct work *w, struct review_reader *r, size_t from, struct fault *f)
{
	size_t to = w->n - from < PIECE ? w->n : from + PIECE;
	int e = 0;

	for (size_t i = from; i < to && e == 0; i++)
		if (is_counted(w, w->v[i]))
			e = review_count_change(r, w->v[i], &w->counts[i], f);
	return e;
}

static void *count_pieces(void *arg)
{
	struct worker *x = arg;
	struct work *w = x->work;
	struct review_reader r = REVIEW_READER_NONE;
	int e = tree_at_init(&r.base, w->call->base, &x->fault);

	if (e == 0)
		e = tree_at_init(&r.upper, w->call->upper, &x->fault);
	while (e == 0 && !atomic_load(&w->failed)) {
		size_t from = atomic_fetch_add(&w->next, PIECE);

		if (from >= w->n)
			break;
		e = count_piece(w, &r, from, &x->fault);
		progress_tell(&w->progress, from + PIECE < w->n ? from + PIECE : w->n, 0);
	}
	if (e < 0)
		atomic_store(&w->failed, true);
	x->error = e;
	tree_at_done(&r.base);
	tree_at_done(&r.upper);
	return NULL;
}

static size_t threads_for(size_t n)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return n <= ALONE_MAX || cpus < 2 ? 1 : cpus < THREADS_MAX ? (size_t)cpus : THREADS_MAX;
}

int review_count_all(struct review_call *r, struct change *const *v, size_t n, struct review_count *ret,
		     struct fault *f)
{
	struct work w = { .call = r, .v = v, .n = n, .counts = ret };
	struct worker x[THREADS_MAX] = { 0 };
	size_t wanted = threads_for(n), started = 1;
	int e = 0;

	for (size_t i = 0; i < wanted; i++)
		x[i].work = &w;
	progress_init(&w.progress, "counting lines");
	/* Without a thread the others do its work. */
	while (started < wanted && pthread_create(&x[started].thread, NULL, count_pieces, &x[started]) == 0)
		started++;
	(void)count_pieces(&x[0]);
	for (size_t i = 1; i < started; i++)
		(void)pthread_join(x[i].thread, NULL);
	progress_done(&w.progress);
	for (size_t i = 0; i < started; i++) {
		if (x[i].error < 0 && e == 0)
			e = fault_set(f, -x[i].error, "%s", fault_text(&x[i].fault));
		fault_done(&x[i].fault);
	}
	return e;
}
