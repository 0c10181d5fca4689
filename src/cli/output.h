/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

struct jdoc;
struct strbuf;

/* JSON to stdout; to a terminal in ASCII, so that no name in it can send control characters. */
int output_put_json(const struct strbuf *text, struct fault *f) _must_check_;
/* The same of a document, indented.  Returns 0, which is STATUS_OK, or negative errno. */
int output_print(const struct jdoc *d, struct fault *f) _must_check_;
