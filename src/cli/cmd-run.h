/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "run/run-options.h"

/* Shared by `run` and `shell`: runs O, reports, returns the exit status. */
int run_print_help(const char *name, const char *args); /* usage and options on stdout; returns STATUS_OK */
int run_command(const struct run_options *o, struct fault *f) _must_check_;
