/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json-span.h"

/* libcrun ignores an AppArmor profile and SELinux labels when the kernel does not have that module: refused, as with runc. */
int runtime_labels_require(struct jspan config, struct fault *f) _must_check_;
int runtime_labels_require_process(struct jspan process, const char *label, struct fault *f) _must_check_;
