/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/str.h"
#include "base/json-span.h"
#include "oci/runtime/runtime-options.h"

/*
 * The process JSON of `exec ID CMD`: the container's own process (config.json's `process`) with the command and
 * the changes of the options, as runc does it: --env and --cap add, --user, --cwd and the labels replace.
 */
int runtime_process_make(struct jspan config, const struct runtime_options *o, struct strbuf *out,
			 struct fault *f) _must_check_;
