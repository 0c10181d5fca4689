/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json.h"
#include "base/str.h"

/*
 * Differences of two subject documents (or two config.json): a list of {"path","was","is"}, in the order of
 * the keys.  A side without the value has no "was" or no "is".  Values of the environment and their HMACs are
 * never listed: {"path":"env.NAME"} with "change": "added", "removed" or "changed".  Empty when they are
 * equal.
 */
struct jdoc *subject_diff(const struct jdoc *was, const struct jdoc *is);

/*
 * As text, one line each: "argv[2]: was 'a', is 'b'".  Escaped for a terminal; at most MAX lines, then "and N
 * more".
 */
int subject_diff_print(const struct jdoc *diff, size_t max, struct strbuf *out, struct fault *f) _must_check_;
