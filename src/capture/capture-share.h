/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "capture/capture-file.h"

/*
 * Files of the upper of an ended run become hard links in the evidence, where the file system cannot share blocks, so that
 * a copy that is kept for review is not stored twice.  Both names have one inode: it MUST NOT be written again.  The
 * caller vouches that no process outside got a way into the overlay (struct capture_share); here a file is linked
 * only if no process has it open for writing, and if its mode and attributes may stand in evidence.
 */

/* Does the directory's file system share blocks (FICLONE)? */
bool capture_share_can_clone(int outfd);
/* Reads the file of the upper instead of the same file in the overlay, which can neither be linked nor cloned. */
void capture_share_find(const struct capture_target *t, struct capture_job *j);
/* True: the file is in the evidence, and is only to be hashed.  False: it has to be copied. */
bool capture_share_link(struct capture_target *t, struct capture_job *j);
