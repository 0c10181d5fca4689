/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json-span.h"

/* `linux.namespaces` of CONFIG has each type once, and a new mount namespace. */
int runtime_namespace_require(struct jspan config, struct fault *f) _must_check_;
