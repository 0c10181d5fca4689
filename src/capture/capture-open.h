/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "capture/capture-batch.h"
#include "capture/capture-file.h"

/*
 * Opens NAME of the batch and fills JOB.  1: its bytes are to be copied (capture_file).  0: the entry is complete:
 * another name of a captured file, or the reason why nothing is stored.
 */
int capture_open(struct capture_target *t, const struct capture_batch *b, const char *name,
		 struct capture_job *ret, struct fault *f) _must_check_;
