/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cgroup/oom-watch.h"
#include "cgroup/pids-watch.h"
#include "config/config.h"
#include "container/warden-handover.h"
#include "container/warden-request.h"
#include "decision/decision.h"
#include "session/exit-reason.h"
#include "state/dirs.h"
#include "warden/container-broker.h"
#include "warden/container-call.h"
#include "warden/container-exec.h"
#include "warden/container-gate.h"
#include "warden/container-layers.h"
#include "warden/container-unasked.h"
#include "warden/warden-backup.h"

/*
 * custody-warden's watch over one container that another runtime runs from a bundle.  The warden is neither parent
 * nor child of it: it sees the first process through a pidfd.
 *
 *	handover	custody-hook mount sends descriptors of the worktree and of the gate
 *	start		custody-init has proven the layers and waits at the gate: the grant is consumed and the start
 *			recorded, and only then does the command run
 *	end		the pidfd becomes readable: evidence if the end is abnormal, the end record, exit.json
 *
 * A start that cannot be recorded must not happen: init is refused, and killed if it does not exit.
 *
 * A container of an engine has no handover and no gate: the worktree came with the request, and custody-runtime asks before it
 * releases the process (container-engine.h).
 */
struct container_watch {
	struct warden_request request;
	struct dirs dirs;
	struct config *config;
	struct decision decision;
	struct warden_held held;
	struct warden_backup backup;
	struct oom_watch oom;
	struct pids_watch pids;
	struct container_gate gate;
	struct container_call call;
	struct container_broker broker;
	struct container_layers layers;
	struct container_execs execs;
	struct container_unasked unasked;
	char **layer_words; /* of the start record; NULL: none */
	bool started;	    /* the start is recorded: from here on an end, not a refusal */
	bool unreleased;    /* started, but init had exited: the command never ran */
	bool denied, ended;
	bool swept;	     /* containers that no process supervises were looked for */
	bool violated;	     /* killed after its start: a layer was missing; WHY has it */
	const char *refused; /* with DENIED: stable name for the record */
	struct fault why;    /* with DENIED: for people */
	uint64_t began_ns, began_us;
	int parent;    /* of its custody-parent; -EBADF: the engine is its parent */
	bool end_seen; /* before it was reaped: */
	int end_status;
	enum exit_source end_source;
};
#define CONTAINER_WATCH_NONE                                          \
	((struct container_watch){ .decision = DECISION_NONE,         \
				   .held = WARDEN_HELD_NONE,          \
				   .backup = WARDEN_BACKUP_NONE,      \
				   .gate = CONTAINER_GATE_NONE,       \
				   .call = CONTAINER_CALL_NONE,       \
				   .broker = CONTAINER_BROKER_NONE,   \
				   .layers = CONTAINER_LAYERS_NONE,   \
				   .unasked = CONTAINER_UNASKED_NONE, \
				   .parent = -EBADF,                  \
				   .oom = OOM_WATCH_NONE,             \
				   .pids = PIDS_WATCH_NONE })

/* From the request to exit.json; the descriptors of container/warden-request.h are in place. */
int container_watch_run(struct container_watch *w, struct fault *f) _must_check_;
void container_watch_done(struct container_watch *w);

/* The command is about to run: consumes the grant and records the start.  Else W->denied, and WHY has the reason. */
void container_watch_start(struct container_watch *w);

/* The container exited: evidence, record, exit.json. */
int container_end_record(struct container_watch *w, struct fault *f) _must_check_;
