/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/capture.h"
#include "core/manifest.h"

/* One opened file on its way into the evidence: under its own name, under a number in odd/, or into the archive. */

/* A directory of the target that files in the queue still need. */
struct capture_dir {
	int fd;	    /* -EBADF: its files go to odd/ */
	char *path; /* below the evidence: "worktree/src" */
	_Atomic int refs;
};

struct capture_job {
	struct manifest_entry entry; /* whoever has the job owns this */
	int in;			     /* as well */
	struct capture_dir *dir;
	char *name;	    /* in DIR; heap, owned as well */
	uint64_t size;	    /* bytes that may be taken */
	uint64_t data;	    /* and how many of them have been claimed */
	struct statx *seen; /* heap, owned as well: as IN was when it was opened */
};

struct capture_dir *capture_dir_new(int fd, const char *path); /* owns FD also when it fails */
void capture_dir_drop(struct capture_dir *d);

void capture_job_done(struct capture_job *j);

/* Where files go, shared by all threads. */
struct capture_target {
	const struct capture_options *o;
	int outfd;
	pthread_mutex_t lock; /* of what follows */
	int oddfd;
	uint64_t next_odd, claimed; /* of max_bytes */
	_Atomic bool no_clone;	    /* it cannot share blocks: asked once */
};

void capture_target_init(struct capture_target *t, int outfd, const struct capture_options *o);
void capture_target_done(struct capture_target *t);
/* BYTES of max_bytes, or as many as are left; a limit of 0 never ends. */
uint64_t capture_target_claim(struct capture_target *t, uint64_t bytes);
bool capture_target_has_room(struct capture_target *t);

/* What a thread works with. */
struct capture_tools {
	void *buffer; /* CAPTURE_BUFFER bytes */
	struct capture_direct *direct;
	bool has_tried; /* to get one */
};
void capture_tools_done(struct capture_tools *tools);
#define _cleanup_capture_tools_ _cleanup_(capture_tools_done)

/*
 * Copies and hashes; what went wrong is in the entry.  Returns how many bytes of data were kept.  *FAILED (errno) is set
 * only when nothing of the capture can be right any more.
 */
uint64_t capture_file(struct capture_target *t, struct capture_job *j, struct capture_tools *tools,
		      int *failed);
