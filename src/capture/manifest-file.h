/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "capture/manifest.h"

/* Reads a manifest line by line, from any offset; only one line is in memory. */
struct manifest_file;

int manifest_open(int evidence, struct manifest_file **ret, struct fault *f) _must_check_;
/* 1 and an entry, 0 at the end.  RET_OFFSET (may be NULL): offset of its line. */
int manifest_next(struct manifest_file *m, struct manifest_entry *ret, uint64_t *ret_offset,
		  struct fault *f) _must_check_;
void manifest_seek(struct manifest_file *m, uint64_t offset);
void manifest_close(struct manifest_file *m);
DEFINE_CLEANUP(struct manifest_file, manifest_close)
#define _cleanup_manifest_ _cleanup_(manifest_closep)
