/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json.h"

/*
 * Settings at the time a container was created: ROOT/ID/custody.json, beside libcrun's files and removed with them.
 * Engines call the later verbs almost without environment; those verbs read the settings from this file.
 */
/* GOVERNED: the member of a governed container, engine/engine-record.h, taken over; NULL: none. */
int runtime_record_write(const char *root, const char *id, const char *config, struct jdoc *governed,
			 struct fault *f) _must_check_;
