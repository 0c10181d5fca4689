/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/run-prepare.h"

/*
 * Data of the supervisor that recovery needs after its death: the subject's document, config.json without the values
 * of the environment, and layer.json (session/session-upper.h) if the upper is to be kept. Files in RUN/sessions/ID,
 * never synced, complete before the payload is released, removed with that directory or by a reboot.
 */
#define RECOVERY_SUBJECT "subject.json"
#define RECOVERY_CONFIG "config.json"

struct run;
/* While the container is created; the session's note has been written. */
int run_recovery_files_begin(const struct run *run, const struct session *s, struct fault *f) _must_check_;
/* When the creator has filled C. */
int run_recovery_files_config(const struct run *run, const struct session_config *c,
			      struct fault *f) _must_check_;
