/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * What was seen when a container was created: ROOT/ID/custody.json, beside libcrun's files and removed with them.
 * Engines call the later verbs almost without environment; whatever those need to know is asked here.
 */
int runtime_record_write(const char *root, const char *id, const char *config, struct fault *f) _must_check_;
