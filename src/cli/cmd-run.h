/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "run/run-options.h"

/* Shared by `run` and `shell`: runs O, reports, returns the exit status. */
int run_command(const struct run_options *o, struct fault *f) _must_check_;
