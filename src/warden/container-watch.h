/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cgroup/oom-watch.h"
#include "config/config.h"
#include "container/warden-handover.h"
#include "container/warden-request.h"
#include "decision/decision.h"
#include "state/dirs.h"
#include "warden/warden-backup.h"

/*
 * custody-warden's watch over one container that another runtime runs from a bundle.  The warden is neither parent
 * nor child of it: it sees the first process through a pidfd.
 *
 *	handover	custody-hook mount sends descriptors of the worktree
 *	start		custody-init is executed (inotify on its file says when to check): the grant is consumed, else
 *			the container is killed
 *	end		the pidfd becomes readable: evidence if the end is abnormal, the end record, exit.json
 *
 * A start that cannot be recorded must not happen: a failure before it kills the container.
 */
struct container_watch {
	struct warden_request request;
	struct dirs dirs;
	struct config *config;
	struct decision decision;
	struct warden_held held;
	struct warden_backup backup;
	struct oom_watch oom;
	bool started, denied, ended;
	bool opened;	     /* init's file was opened, perhaps by this container */
	unsigned int checks; /* left after init's file was opened */
	bool unheld;	     /* started without a worktree descriptor, and killed for that */
	uint64_t began_ns, began_us;
	bool zombie_seen;
	int zombie_status;
};
#define CONTAINER_WATCH_NONE                                     \
	((struct container_watch){ .decision = DECISION_NONE,    \
				   .held = WARDEN_HELD_NONE,     \
				   .backup = WARDEN_BACKUP_NONE, \
				   .oom = OOM_WATCH_NONE })

/* From the request to exit.json; the descriptors of container/warden-request.h are in place. */
int container_watch_run(struct container_watch *w, struct fault *f) _must_check_;
void container_watch_done(struct container_watch *w);

/* The container exited: evidence, record, exit.json. */
int container_end_record(struct container_watch *w, struct fault *f) _must_check_;
