/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "state/dirs.h"
#include "doctor/doctor.h"

/*
 * ENGINE-* checks: does a container engine know custody-runtime, and what has to be written where?  They read the
 * engine's files where the engine itself looks for them (podman's CONTAINERS_CONF included) and never ask the engine.
 */
#define ENGINE_RUNTIME "custody-runtime"

/* -EINVAL with the nearest name unless there are checks for the engine NAME. */
int doctor_require_engine(const char *name, struct fault *f) _must_check_;

/* Adds the checks of the engine NAME to R. */
void doctor_check_engine(struct doctor_report *r, const struct dirs *d, const char *name);

/* --- for the engines' own files --- */

void doctor_check_podman(struct doctor_report *r, const struct dirs *d);
void doctor_check_docker(struct doctor_report *r, const struct dirs *d);
void doctor_check_containerd(struct doctor_report *r, const struct dirs *d);

/* An executable file: PATH, or without a slash a name in $PATH and where daemons are installed. */
bool doctor_engine_has_program(const char *path);

/* Is custody-runtime the last part of PATH? */
bool doctor_engine_is_ours(const char *path);

/* NAME ("containers/containers.conf") below the caller's directory of settings; heap, NULL on ENOMEM. */
char *doctor_engine_user_file(const struct dirs *d, const char *name);

/* /etc/NAME; for a user who has a file of that name among the own settings, that one (rootless daemons). */
char *doctor_engine_file(const struct dirs *d, const char *name);
