/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/run-prepare.h"

/*
 * What whoever finds a supervisor dead needs and only the supervisor knows: the subject's document, config.json without the
 * values of the environment, and layer.json (session/session-upper.h) if the layer is to be kept.  Files in RUN/sessions/ID, never
 * synced, whole before the payload is released; they go with that directory, and with the machine's memory.
 */
#define RECOVERY_SUBJECT "subject.json"
#define RECOVERY_CONFIG "config.json"

struct run;
/* While the container is made; the session's note has been written. */
int run_recovery_files_begin(const struct run *run, const struct session *s, struct fault *f) _must_check_;
/* When the creator has told what it gave to the runtime. */
int run_recovery_files_config(const struct session *s, const struct session_config *c,
			      struct fault *f) _must_check_;
