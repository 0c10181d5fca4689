/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "base/fault.h"
#include "base/json.h"
#include "base/str.h"

/*
 * config.json for the evidence: as the runtime got it, without the values of the environment, which are stored nowhere
 * (the subject has their HMACs), and with the words of the command that are redacted in the document SUBJECT.  OUT has the
 * style of TEXT, one of the two of jdoc_write, so that everything else is unchanged byte for byte.  -EINVAL: TEXT cannot be
 * parsed.
 */
int evidence_config_write(const char *text, size_t len, const struct jdoc *subject, struct strbuf *out,
			  struct fault *f) _must_check_;
