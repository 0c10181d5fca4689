/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "state/dirs.h"
#include "doctor/doctor.h"

/*
 * Runs custody-canary in a container of PROFILE, the way `custody run` does, with a decoy outside for each try, and adds
 * HOST-CANARY and LAYER-* to R.  A refused run is a finding; negative only when the check itself fails (no such profile, no
 * memory).
 */
int doctor_run_canary(const struct dirs *d, const char *profile, struct doctor_report *r,
		      struct fault *f) _must_check_;
