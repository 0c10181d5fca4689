/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A thread that waits until it is not needed any more: a number that is no process. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

struct thread {
	pthread_t id;
	pid_t tid;
	int said[2], over[2]; /* pipes: it runs; it may exit */
	bool runs;
};
#define THREAD_NONE ((struct thread){ .said = { -EBADF, -EBADF }, .over = { -EBADF, -EBADF } })

static inline void *thread_wait(void *arg)
{
	struct thread *t = arg;
	pid_t tid = (pid_t)syscall(SYS_gettid);
	char c;

	if (write(t->said[1], &tid, sizeof(tid)) == sizeof(tid))
		(void)!read(t->over[0], &c, 1);
	return NULL;
}

static inline bool thread_start(struct thread *t)
{
	t->runs = pipe2(t->said, O_CLOEXEC) == 0 && pipe2(t->over, O_CLOEXEC) == 0 &&
		  pthread_create(&t->id, NULL, thread_wait, t) == 0;
	return t->runs && read(t->said[0], &t->tid, sizeof(t->tid)) == sizeof(t->tid);
}

static inline void thread_done(struct thread *t)
{
	t->over[1] = fd_close(t->over[1]);
	if (t->runs)
		(void)pthread_join(t->id, NULL);
	(void)fd_close(t->over[0]);
	(void)fd_close(t->said[0]);
	(void)fd_close(t->said[1]);
}
#define _cleanup_thread_ _cleanup_(thread_done)
