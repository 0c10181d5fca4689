/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "cli/command.h"

/*
 * Asks the user at the terminal before many things are removed.  1: yes, also with --yes and without a terminal, where
 * the command line is the decision; 0: no.
 */
int confirm(const struct command_call *c, const char *question, struct fault *f) _must_check_;
