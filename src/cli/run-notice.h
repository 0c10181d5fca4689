/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/run-options.h"
#include "session/run-result.h"

/*
 * After a run, on a terminal: the number of changed files, and the commands that continue.  Nothing with -q or --json, or if stderr
 * is no terminal: a script reads the result.
 */
void run_notice_print(const struct run_options *o, const struct run_result *res);
