/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/json.h"
#include "base/str.h"
#include "layer/layer.h"

/*
 * Proves the layers of a container without custody-init, from outside: the first process waits, with every layer but the filter in
 * place, until the runtime opens its FIFO.  Nothing of the container has run then.  docs/design/engine.md, steps 9 and 10.
 *
 *	container_procfd_open
 *	container_prove(CONTAINER_BEFORE_START)
 *	... the runtime starts it ...
 *	container_prove(CONTAINER_AFTER_START), as often as it returns -EAGAIN, or container_prove_wait
 */
enum container_phase {
	CONTAINER_BEFORE_START,
	CONTAINER_AFTER_START,
};

struct container_proof {
	int procfd, pidfd;
	enum container_phase phase;
	uint32_t layers;	   /* LAYER_BIT()s that are requested */
	uint32_t optional;	   /* of these: missing ones do not refuse */
	uint32_t own;		   /* of these: proven by the caller itself, disk and time */
	const struct jdoc *config; /* merged, as the runtime got it */
	const char *worktree;	   /* inside; NULL: process.cwd */
	unsigned int preserved;	   /* descriptors from 3 that the engine passes */
};

/* Kept from one phase to the next. */
struct container_proven {
	enum layer_state states[_LAYER_MAX];
	uint32_t waiting; /* LAYER_BIT()s that hold only after the start */
	char **words;	  /* "NAME=proven", "NAME=missing: WHY"; of the layers that are decided */
	bool exe_seen;	  /* program of the process before its start */
	dev_t exe_dev;
	ino_t exe_ino;
	char name[24];
};
#define CONTAINER_PROVEN_NONE ((struct container_proven){ .words = NULL })

/*
 * 0: every layer that can be proven in this phase is.
 * -EPERM: layers are missing; F names each one and why, and so do the words.
 * -EAGAIN: AFTER_START only: the process has not executed its program yet.
 * -ESRCH: the process exited before it was read: nothing is proven.
 */
int container_prove(const struct container_proof *p, struct container_proven *ret,
		    struct fault *f) _must_check_;

/* AFTER_START until the result is not -EAGAIN.  Wakes up when the process exits; the kernel reports no exec, so it looks again. */
int container_prove_wait(const struct container_proof *p, struct container_proven *ret,
			 struct fault *f) _must_check_;
/* Milliseconds until the next look is worth it, for a caller with an own loop.  TRIES: looks so far. */
int container_prove_pause_ms(unsigned int tries);

void container_proven_done(struct container_proven *p);
#define _cleanup_container_proven_ _cleanup_(container_proven_done)

/* /proc/PID of the process behind PIDFD.  -ESRCH: it exited. */
int container_procfd_open(int pidfd, pid_t pid, struct fault *f) _must_check_;

/* LAYER_BIT()s that can be proven from outside at all. */
uint32_t container_prove_layers(void);
