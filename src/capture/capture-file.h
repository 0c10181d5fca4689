/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "capture/capture-batch.h"
#include "capture/capture-copy.h"
#include "capture/capture.h"
#include "capture/manifest.h"

/* One opened file on its way into the evidence: under its own name, under a number in odd/, or into the archive. */

struct capture_job {
	struct manifest_entry entry;
	int in;
	struct statx seen;	 /* as IN was when it was opened */
	struct capture_dir *dir; /* one reference is ours */
	char *name;		 /* in DIR; heap */
	uint64_t size;		 /* bytes that may be taken */
	uint64_t data;		 /* and how many of them have been claimed */
	bool cut;		 /* there was no room for all of them */
	struct capture_copy copy;
	int status; /* of its last step: negative errno */
};

void capture_job_done(struct capture_job *j);
#define _cleanup_capture_job_ _cleanup_(capture_job_done)

/* Where files go, shared by all threads. */
struct capture_target {
	const struct capture_options *o;
	int outfd;
	pthread_mutex_t lock; /* of what follows */
	int oddfd;
	uint64_t next_odd, claimed; /* of max_bytes */
	struct capture_twin *twins; /* files that have several names */
	uint64_t next_id;
	_Atomic bool no_clone; /* it cannot share blocks: asked once */
};

int capture_target_init(struct capture_target *t, int outfd, const struct capture_options *o,
			struct fault *f) _must_check_;
void capture_target_done(struct capture_target *t);
/* BYTES of max_bytes, or as many as are left; a limit of 0 never ends. */
uint64_t capture_target_claim(struct capture_target *t, uint64_t bytes);
bool capture_target_has_room(struct capture_target *t);
/* The id of a file with several names: a new one in e->id the first time, else in e->same. */
void capture_target_name_twin(struct capture_target *t, const struct statx *stx, struct manifest_entry *e);

/* What one file at a time is copied with. */
struct capture_tools {
	void *buffer; /* CAPTURE_BUFFER bytes */
	struct capture_direct *direct;
	bool has_tried; /* to get one */
};
void capture_tools_done(struct capture_tools *tools);
#define _cleanup_capture_tools_ _cleanup_(capture_tools_done)

/*
 * Copies and hashes in the steps of capture_copy; what went wrong is in the entry.  *FAILED (errno) is set only when nothing of the
 * capture can be right any more.
 */
/* False: there is nothing to copy, the entry says why, and that was all. */
bool capture_file_begin(struct capture_target *t, struct capture_job *j, struct capture_tools *tools,
			int *failed);
/* False: there are no more pieces. */
bool capture_file_read(struct capture_job *j);
void capture_file_write(struct capture_job *j);
/* How many bytes of data were kept. */
uint64_t capture_file_end(struct capture_target *t, struct capture_job *j, int *failed);
