/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "egress/egress-impl.h"

/*
 * The resolver of the C library waits, so it runs in threads.  They touch nothing but their questions; a name comes here only after a rule
 * allowed it.
 */
#define THREADS_MAX 8
#define QUESTIONS_MAX EGRESS_CONNECTIONS_MAX /* that wait, also for clients that have gone */
#define STACK ((size_t)512 * 1024)

struct question {
	struct question *next;
	char name[HOSTNAME_SIZE], port[8];
	struct egress_answer answer;
};

struct egress_resolver {
	pthread_mutex_t lock;
	pthread_cond_t asked;
	struct question *questions, **last, *answers;
	size_t n_questions, threads, idle;
	int event;
};

static struct question *take_question(struct egress_resolver *r)
{
	struct question *q;

	(void)pthread_mutex_lock(&r->lock);
	r->idle++;
	while (!r->questions)
		(void)pthread_cond_wait(&r->asked, &r->lock);
	r->idle--;
	q = r->questions;
	r->questions = q->next;
	r->n_questions--;
	if (!r->questions)
		r->last = &r->questions;
	(void)pthread_mutex_unlock(&r->lock);
	return q;
}

static void *work(void *arg)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV };
	struct egress_resolver *r = arg;

	for (;;) {
		struct question *q = take_question(r);
		const uint64_t one = 1;

		q->answer.error = getaddrinfo(q->name, q->port, &hints, &q->answer.list);
		(void)pthread_mutex_lock(&r->lock);
		q->next = r->answers;
		r->answers = q;
		(void)pthread_mutex_unlock(&r->lock);
		(void)!write(r->event, &one, sizeof(one));
	}
	return NULL;
}

/* Called with the lock. */
static int add_thread(struct egress_resolver *r)
{
	pthread_attr_t attr;
	pthread_t thread;
	int e = pthread_attr_init(&attr);

	if (e == 0)
		e = pthread_attr_setstacksize(&attr, STACK);
	if (e == 0)
		e = pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (e == 0)
		e = pthread_create(&thread, &attr, work, r);
	if (e == 0)
		r->threads++;
	return -e;
}

int egress_resolver_new(struct egress_resolver **ret, int *ret_fd, struct fault *f)
{
	struct egress_resolver *r = calloc(1, sizeof(*r));

	if (!r)
		return fault_errno(f, ENOMEM, "resolver");
	r->last = &r->questions;
	r->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->event < 0 || pthread_mutex_init(&r->lock, NULL) != 0 ||
	    pthread_cond_init(&r->asked, NULL) != 0) {
		free(r);
		return fault_errno(f, ENOMEM, "resolver");
	}
	*ret_fd = r->event;
	*ret = r;
	return 0;
}

int egress_resolver_ask(struct egress_resolver *r, uint64_t id, const char *name, uint16_t port)
{
	struct question *q = calloc(1, sizeof(*q));
	int e = 0;

	if (!q)
		return -ENOMEM;
	q->answer.id = id;
	(void)snprintf(q->name, sizeof(q->name), "%s", name);
	(void)snprintf(q->port, sizeof(q->port), "%u", (unsigned int)port);
	(void)pthread_mutex_lock(&r->lock);
	if (r->idle == 0 && r->threads < THREADS_MAX)
		e = add_thread(r);
	/* A server that does not answer must not let them grow without bound. */
	if (r->n_questions >= QUESTIONS_MAX) {
		free(q);
		e = -EBUSY;
	} else if (r->threads > 0) {
		*r->last = q;
		r->last = &q->next;
		r->n_questions++;
		(void)pthread_cond_signal(&r->asked);
		e = 0;
	} else {
		free(q);
	}
	(void)pthread_mutex_unlock(&r->lock);
	return e;
}

bool egress_resolver_take(struct egress_resolver *r, struct egress_answer *ret)
{
	struct question *q;
	uint64_t n;

	(void)!read(r->event, &n, sizeof(n));
	(void)pthread_mutex_lock(&r->lock);
	q = r->answers;
	if (q)
		r->answers = q->next;
	(void)pthread_mutex_unlock(&r->lock);
	if (!q)
		return false;
	*ret = q->answer;
	free(q);
	return true;
}
