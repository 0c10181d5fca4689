/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json.h"

/*
 * Notifies that a request is pending: ARGV (of the configuration) with ID as its last word, REQUEST as JSON
 * on its stdin, its output on our stderr.  Its arguments contain nothing of the payload.  After SECONDS it
 * and its children are killed.  Its result does not affect the request: callers log the fault and continue.
 */
#define ON_REQUEST_SECONDS 10

int request_command_run(char *const *argv, const char *id, const struct jdoc *request, unsigned int seconds,
			struct fault *f) _must_check_;
