/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/json.h"

/*
 * The layer of the container itself, above its image: an engine has put directories and mount points there, and podman /etc/mtab.
 * Anything else was written by an earlier run of the same container, or copied into it: `podman cp` before the start.
 */

/* UPPER: its directory.  One that cannot be read may have anything. */
bool engine_upper_is_pristine(const char *upper, const struct jdoc *config);
