/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json.h"
#include "oci/seccomp/seccomp-filter.h"

/* The value of linux.seccomp for C, whose names are all known. */
int seccomp_describe_choice(const struct seccomp_choice *c, struct jdoc **ret, struct fault *f) _must_check_;
