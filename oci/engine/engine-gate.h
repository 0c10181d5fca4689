/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/json.h"

/*
 * Whether a container of an engine may be created, and its handover to custody-warden.  docs/design/engine.md has the steps;
 * decide() in engine-gate.c is their list.
 *
 *	engine_gate_open	decides; the intent is on the disk and the session exists
 *	...			libcrun creates the container from engine_gate_text
 *	engine_gate_hand_over	the warden supervises it
 *	...			the caller writes engine_gate_record into the record of the container
 *
 * If a step between them fails the caller deletes the container and calls engine_gate_refuse.
 */
struct engine_call {
	const char *id;	    /* of the container */
	const char *bundle; /* absolute, and the working directory */
	const char *text;   /* of config.json, checked by runtime_config_require */
	size_t len;
	const char *profile, *lane; /* options of custody-runtime; NULL: not given */
	bool allow_prod;
	char *const *argv;	/* of custody-runtime, for the command that a refused lane shows */
	unsigned int preserved; /* descriptors from 3 that the engine passes */
	bool stays;		/* this process waits for the container's end */
	bool no_cgroup;		/* --cgroup-manager disabled */
};

struct engine_gate;

/* 0 and *RET NULL: both switches are off.  Negative: refused, and recorded where there is a ledger to record it in. */
int engine_gate_open(const struct engine_call *call, struct engine_gate **ret, struct fault *f) _must_check_;
/*
 * A verb that no governed container may have.  0: both switches are off.  Else refused with WHY, and recorded; of CALL only what
 * stands before the verb is read.
 */
int engine_gate_forbid(const struct engine_call *call, const char *verb, const char *why,
		       struct fault *f) _must_check_;
const char *engine_gate_text(const struct engine_gate *g);

/* A descriptor that the process needs which calls libcrun for the text; -EBADF: none. */
int engine_gate_keep(const struct engine_gate *g);
/* In that process, which gets a mount namespace of its own if the text needs one. */
int engine_gate_attach(const struct engine_gate *g, struct fault *f) _must_check_;

/* custody-parent, for oci/runtime/runtime-parent.h; heap. */
char *engine_gate_parent(const struct engine_gate *g);

/* PID: the container's first process, which waits for its start.  PARENT: the socket of its custody-parent; -EBADF: it has none. */
int engine_gate_hand_over(struct engine_gate *g, pid_t pid, int parent, struct fault *f) _must_check_;
/* For engine-record.h. */
struct jdoc *engine_gate_record(const struct engine_gate *g);

/* R and F: why.  Returns R, or with a text about the record if that failed.  After the handover the warden records it. */
int engine_gate_refuse(struct engine_gate *g, int r, struct fault *f);
void engine_gate_free(struct engine_gate *g);
DEFINE_CLEANUP(struct engine_gate, engine_gate_free)
#define _cleanup_engine_gate_ _cleanup_(engine_gate_freep)
