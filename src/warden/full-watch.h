/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/json.h"
#include "subject/subject.h"

/*
 * Which private places of a run are full: every tmpfs of its subject, /dev/shm, and a kept home. A program that gets ENOSPC
 * there names the file, but not the limit. The descriptors are opened before the payload is released, because its mount
 * namespace is gone when it has exited; a place that cannot be opened is not watched.
 */
#define FULL_PLACES_MAX 8

struct full_place {
	int fd;
	const char *path; /* inside; borrowed from the subject */
	const char *key;  /* of the profile, which raises the limit; NULL: a disk of the host */
	bool was_full;
	uint64_t bytes; /* size of the place */
};

struct full_watch {
	struct full_place places[FULL_PLACES_MAX];
	size_t n;
};

/* INIT: first process of the run. */
void full_watch_open(struct full_watch *w, const struct subject *s, pid_t init);
/* Notes the places that are full now: a few system calls. */
void full_watch_look(struct full_watch *w);
/* For the result: an array of path, bytes and key. Heap; NULL: none, or no memory. */
struct jdoc *full_watch_list(const struct full_watch *w);
/* For people: the places that were full, their limits and how to raise them. Heap; NULL: none, or no memory. */
char *full_watch_text(const struct full_watch *w);
void full_watch_done(struct full_watch *w);
