/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>

#include "container/warden-request.h"
#include "warden/container-prove.h"

/*
 * The layers of an engine's container, proven by its warden: what can be read before the start, then the rest, which the runtime
 * installs between its start and the execution of the program.  Memory is held from one to the other only.
 */
struct container_layers {
	struct jdoc *config; /* merged, as the runtime got it */
	char *work;
	int procfd;
	struct container_proof proof;
	struct container_proven proven;
	bool pending; /* the rest is to be proven */
	unsigned int tries;
};
#define CONTAINER_LAYERS_NONE ((struct container_layers){ .procfd = -EBADF })

/* Before the start.  RET_WORDS: "NAME=proven" and the like, for the record; heap, NULL: nothing is to be proven. */
int container_layers_prove(struct container_layers *l, const struct warden_request *rq, char ***ret_words,
			   struct fault *f) _must_check_;
/* The rest, if it is pending.  -EAGAIN: the program is not executed yet; -EPERM: a layer is missing. */
int container_layers_look(struct container_layers *l, struct fault *f) _must_check_;
/* The same, waiting for the execution. */
int container_layers_wait(struct container_layers *l, struct fault *f) _must_check_;
/* Milliseconds until the next look, -1: none is due. */
int container_layers_due_ms(const struct container_layers *l);
void container_layers_done(struct container_layers *l);
