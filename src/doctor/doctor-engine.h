/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "config/config.h"
#include "doctor/doctor.h"
#include "profile/profile.h"
#include "state/dirs.h"

/*
 * ENGINE-* checks: does a container engine know custody-runtime, and which setting has to be added to which file?  They read
 * the same files as the engine (podman's CONTAINERS_CONF included) and never start the engine.
 */
#define ENGINE_RUNTIME "custody-runtime"

/* -EINVAL, with the nearest name, unless NAME is an engine with checks. */
int doctor_require_engine(const char *name, struct fault *f) _must_check_;

/* Adds the checks of the engine NAME to R. */
void doctor_check_engine(struct doctor_report *r, const struct dirs *d, const char *name);

/* --- for the engines' own files --- */

/* sandbox.profile of custody.json, and what it makes of commands in containers of ENGINE */
void doctor_check_engine_profile(struct doctor_report *r, const struct dirs *d, const char *engine);
void doctor_check_engine_exec(struct doctor_report *r, const struct config *c, const struct profile *p,
			      const char *engine);
void doctor_check_engine_status(struct doctor_report *r, const struct dirs *d);
void doctor_check_podman(struct doctor_report *r, const struct dirs *d);
void doctor_check_docker(struct doctor_report *r, const struct dirs *d);
void doctor_check_containerd(struct doctor_report *r, const struct dirs *d);

/* Is PATH an executable file?  Without a slash: in $PATH or a directory of daemons. */
bool doctor_engine_has_program(const char *path);

/* Is custody-runtime the last component of PATH? */
bool doctor_engine_is_ours(const char *path);

/* NAME ("containers/containers.conf") below the caller's configuration directory; heap, NULL on ENOMEM. */
char *doctor_engine_user_file(const struct dirs *d, const char *name);

/* /etc/NAME, or the caller's own file of that name if it exists (rootless daemons). */
char *doctor_engine_file(const struct dirs *d, const char *name);
