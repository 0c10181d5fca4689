/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json.h"

/* Lists that no engine writes are refused: names in them are compared with each other. */
#define ENGINE_ITEMS_MAX 4096
#define ENGINE_ENV_MAX 8192
#define ENGINE_ARGS_MAX 65536
int engine_size_require(const struct jdoc *config, struct fault *f) _must_check_;
