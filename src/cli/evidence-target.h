/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "state/dirs.h"
#include "state/sandbox-root.h"

/* Where evidence is restored to: a directory, made when it is not there. */
struct evidence_target {
	int fd;
	char *path;		   /* for people */
	struct sandbox_root *root; /* that it lies in, held; NULL: in none */
};
#define EVIDENCE_TARGET_NONE ((struct evidence_target){ .fd = -EBADF })

/*
 * PATH, which may not lead into a sandbox root.  With SANDBOX the name of one: PATH is relative to its workspace and may not
 * lead out of it.
 */
int evidence_target_open(const struct dirs *d, const char *sandbox, const char *path,
			 struct evidence_target *ret, struct fault *f) _must_check_;
void evidence_target_done(struct evidence_target *t);
#define _cleanup_evidence_target_ _cleanup_(evidence_target_done)
