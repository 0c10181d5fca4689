/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "state/dirs.h"
#include "state/sandbox-root.h"

/* The directory that evidence is restored to; created if it is missing. */
struct evidence_target {
	int fd;
	char *path;		   /* for messages */
	struct sandbox_root *root; /* locked, if the directory is in one; NULL: it is not */
};
#define EVIDENCE_TARGET_NONE ((struct evidence_target){ .fd = -EBADF })

/*
 * PATH must not be in a sandbox root.  With SANDBOX, the name of one: PATH is relative to its workspace and must stay in
 * it.
 */
int evidence_target_open(const struct dirs *d, const char *sandbox, const char *path,
			 struct evidence_target *ret, struct fault *f) _must_check_;
void evidence_target_done(struct evidence_target *t);
#define _cleanup_evidence_target_ _cleanup_(evidence_target_done)
