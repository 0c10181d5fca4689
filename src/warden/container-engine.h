/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "warden/container-watch.h"

/*
 * custody-warden for an engine's container, which custody-runtime starts: no init waits inside.  The runtime asks before it
 * releases the process (container/warden-call.h).
 */

/* Takes the descriptors that came with the request; before supervision. */
void container_engine_begin(struct container_watch *w);
/* A message of custody-runtime; ARG is the watch. */
const char *container_engine_answer(void *arg, const struct warden_call *m, int fds[WARDEN_CALL_FDS]);
/* Proves the rest of the layers once the program is executed, also if the runtime was killed before it said so. */
void container_engine_look(struct container_watch *w);
/* It ended: was it started without custody-runtime? */
void container_engine_end(struct container_watch *w);
