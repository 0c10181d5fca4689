/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "base/fault.h"
#include "base/str.h"

/*
 * config.json as evidence keeps it: what the runtime got, but for the values of the environment, which are kept nowhere
 * (the subject has their HMACs).  TEXT comes in one of jdoc_write's two styles and leaves in the same, so that everything
 * else is byte for byte what it was.  What cannot be read is not kept either: -EINVAL.
 */
int evidence_config_write(const char *text, size_t len, struct strbuf *out, struct fault *f) _must_check_;
