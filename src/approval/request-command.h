/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json.h"

/*
 * Tells somebody that a request waits: ARGV (of the configuration) with ID as its last word, REQUEST as JSON on its
 * stdin, its output on our stderr.  Nothing of the payload is in its arguments.  It has SECONDS, then it and what it started are
 * killed.  Whatever happens to it changes nothing for the request: callers log the fault and go on.
 */
#define ON_REQUEST_SECONDS 10

int request_command_run(char *const *argv, const char *id, const struct jdoc *request, unsigned int seconds,
			struct fault *f) _must_check_;
