/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/capture-sync.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"

/* A small tree is complete before the first sync. */
#define FILES_MANY 6000
#define BYTES_MANY ((uint64_t)64 * 1024 * 1024)
#define STACK_SIZE ((size_t)64 * 1024)

struct capture_sync {
	int fd;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	uint64_t files, bytes; /* since the last sync */
	bool closing;
};

static bool is_much(const struct capture_sync *s)
{
	return s->files >= FILES_MANY || s->bytes >= BYTES_MANY;
}

static void *work(void *arg)
{
	struct capture_sync *s = arg;

	(void)pthread_mutex_lock(&s->lock);
	while (!s->closing) {
		if (!is_much(s)) {
			(void)pthread_cond_wait(&s->more, &s->lock);
			continue;
		}
		s->files = s->bytes = 0;
		(void)pthread_mutex_unlock(&s->lock);
		(void)syncfs(s->fd);
		(void)pthread_mutex_lock(&s->lock);
	}
	(void)pthread_mutex_unlock(&s->lock);
	return NULL;
}

static int start(struct capture_sync *s)
{
	pthread_attr_t attr;
	int r;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, STACK_SIZE);
	r = pthread_create(&s->thread, &attr, work, s);
	(void)pthread_attr_destroy(&attr);
	return r;
}

static void destroy(struct capture_sync *s)
{
	fd_close(s->fd);
	(void)pthread_cond_destroy(&s->more);
	(void)pthread_mutex_destroy(&s->lock);
	free(s);
}

struct capture_sync *capture_sync_new(int outfd)
{
	struct capture_sync *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	(void)pthread_mutex_init(&s->lock, NULL);
	(void)pthread_cond_init(&s->more, NULL);
	/*
	 * Opened again: a writeback error is reported once per open file description, and the final syncfs must get it.
	 */
	s->fd = openat(outfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->fd >= 0 && start(s) == 0)
		return s;
	destroy(s);
	return NULL;
}

void capture_sync_add(struct capture_sync *s, uint64_t files, uint64_t bytes)
{
	if (!s)
		return;
	(void)pthread_mutex_lock(&s->lock);
	s->files += files;
	s->bytes += bytes;
	if (is_much(s))
		(void)pthread_cond_signal(&s->more);
	(void)pthread_mutex_unlock(&s->lock);
}

void capture_sync_free(struct capture_sync *s)
{
	if (!s)
		return;
	(void)pthread_mutex_lock(&s->lock);
	s->closing = true;
	(void)pthread_cond_signal(&s->more);
	(void)pthread_mutex_unlock(&s->lock);
	(void)pthread_join(s->thread, NULL);
	destroy(s);
}
