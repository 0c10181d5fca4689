/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/json.h"
#include "oci/seccomp/seccomp-table.h"

/*
 * Conditions on arguments: those of one rule of an engine (`args`, all of which must hold) with one of custody's.  A pair that
 * cannot be written as one list of conditions is left out, so the call is not allowed by it.
 */

/* New `args` that hold where both do, or NULL: nowhere, or not known, or no memory. */
struct jdoc *engine_args_and(const struct jdoc *args, const struct seccomp_rule *rule);
/* Is it certain that no call that matches ARGS matches RULE? */
bool engine_args_exclude(const struct jdoc *args, const struct seccomp_rule *rule);
/* Is ARGS a list of conditions that this file understands, with each argument once? */
bool engine_args_are_plain(const struct jdoc *args);
