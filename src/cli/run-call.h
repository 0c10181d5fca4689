/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/command.h"

/* Completes C->run from the arguments and the files that the options name.  For run, shell, check and bundle. */
int run_call_finish(struct command_call *c, struct fault *f) _must_check_;
