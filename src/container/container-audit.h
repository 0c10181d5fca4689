/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "state/dirs.h"

/*
 * The runtime has deleted a container: ends its session together with the runtime's call.  Called by custody-hook audit and by
 * custody-runtime delete.
 *
 * 1. Its warden records the end, with evidence where that is due, and writes exit.json: wait for it, up to 2 s.  Then the
 *    session's directory is removed.
 * 2. The warden is still busy, with a large tree for example: it removes the directory itself.
 * 3. The warden was killed: the end is recorded here, as `lost`.
 *
 * The engine waits for the runtime, so only the synced record of 3 may take longer than these 2 s.
 */
struct container_audit {
	const struct dirs *dirs;
	const char *container; /* the runtime's id */
	int sessions;	       /* RUN/sessions */
	uint64_t deadline;
	bool killed; /* the caller itself killed the container's processes: they exit, if they have not yet */
	/* The current session: */
	const char *session;
	int dir;
};

void container_audit_begin(struct container_audit *a); /* the 2 s begin */
/* Is there a file NAME in the session's directory? */
bool container_audit_has(const struct container_audit *a, const char *name);
/* 0 also if the session is another container's of the same id, or if that still runs. */
int container_audit_close(struct container_audit *a, struct fault *f) _must_check_;
