/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

/* Programs that the runtime executes on the host, with all its rights, when a container is created, started or deleted. */
size_t engine_hook_count(const struct jdoc *config);
/* Is one of them not docker's own, which configures a network and does nothing else? */
bool engine_hook_has_foreign(const struct jdoc *config);
