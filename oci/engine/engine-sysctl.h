/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

bool engine_sysctl_is_listed(const char *name);
/* enum engine_namespace of the namespace that NAME belongs to, or -1: the whole host's. */
int engine_sysctl_namespace(const char *name);
