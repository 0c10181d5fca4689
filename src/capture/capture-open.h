/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "capture/capture-batch.h"
#include "capture/capture-file.h"

/*
 * Opens NAME of the batch and fills in JOB.  1: its bytes are to be copied (capture_file).  0: the entry says all there is: a
 * name of a file that has another one, or why nothing was kept.
 */
int capture_open(struct capture_target *t, const struct capture_batch *b, const char *name,
		 struct capture_job *ret, struct fault *f) _must_check_;
