/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json-span.h"

/*
 * libcrun ignores a member whose value has another type than the specification's: a user id in quotes is then root, a limit
 * in quotes none.  The members that protect the host must have the type of the specification, or be null or missing.
 */
int runtime_types_require(struct jspan config, struct fault *f) _must_check_;
int runtime_types_require_process(struct jspan process, struct fault *f) _must_check_;
int runtime_types_require_resources(struct jspan resources, struct fault *f) _must_check_;
