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

/* One open file that is copied into the evidence: under its own name, under a number in odd/, or into the archive. */

struct capture_job {
	struct manifest_entry entry;
	int in;
	struct statx seen;	 /* stat of IN when it was opened */
	struct capture_dir *dir; /* the job holds one reference */
	char *name;		 /* in DIR; heap */
	uint64_t size;		 /* bytes that may be copied */
	uint64_t data;		 /* bytes reserved of max_bytes */
	bool upper;		 /* IN is a file of the upper, not one that the overlay shows of its base */
	bool linked;		 /* a hard link to the upper: only hashed */
	bool cut;		 /* max_bytes did not allow all of them */
	struct capture_copy copy;
	int status; /* of the last step: negative errno */
};

void capture_job_done(struct capture_job *j);
#define _cleanup_capture_job_ _cleanup_(capture_job_done)

/* The target, shared by all threads. */
struct capture_target {
	const struct capture_options *o;
	int outfd;
	pthread_mutex_t lock; /* protects the fields below */
	int oddfd;
	uint64_t next_odd, claimed;	      /* reserved of max_bytes */
	struct capture_hard_link *hard_links; /* hard-linked files */
	uint64_t next_id;
	_Atomic bool no_clone; /* FICLONE is not supported: tried once */
	_Atomic bool no_link;  /* hard links to the upper are not possible: tried once */
};

int capture_target_init(struct capture_target *t, int outfd, const struct capture_options *o,
			struct fault *f) _must_check_;
void capture_target_done(struct capture_target *t);
/* Reserves BYTES of max_bytes, or as many as are left.  max_bytes 0: no limit. */
uint64_t capture_target_claim(struct capture_target *t, uint64_t bytes);
bool capture_target_has_room(struct capture_target *t);
/* The id of a hard-linked file: a new one in e->id the first time, else in e->same. */
void capture_target_set_link_id(struct capture_target *t, const struct statx *stx, struct manifest_entry *e);

/* Buffers for copying one file at a time. */
struct capture_tools {
	void *buffer; /* CAPTURE_BUFFER bytes */
	struct capture_direct *direct;
	bool has_tried; /* to allocate DIRECT */
};
void capture_tools_done(struct capture_tools *tools);
#define _cleanup_capture_tools_ _cleanup_(capture_tools_done)

/*
 * Copies and hashes in the steps of capture_copy; errors are recorded in the entry.  *FAILED (errno) is set only for an
 * error that invalidates the whole capture.
 */
/* False: nothing to copy; the entry holds the reason, and the job is finished. */
bool capture_file_begin(struct capture_target *t, struct capture_job *j, struct capture_tools *tools,
			int *failed);
/* False: end of the file. */
bool capture_file_read(struct capture_job *j);
void capture_file_write(struct capture_job *j);
/* Bytes of data stored. */
uint64_t capture_file_end(struct capture_target *t, struct capture_job *j, int *failed);
