/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "base/fault.h"
#include "base/json-span.h"

/*
 * Options of mounts.  What libcrun does not know it passes to the file system, which refuses it or not; a bind mount and a cgroup
 * mount ignore it.  So these take known options only, as with runc, and an option of the specification that this libcrun does
 * not have, or sets as another one, is refused for every type.
 */
int runtime_mounts_require(struct jspan config, unsigned int libcrun, struct fault *f) _must_check_;

/* The known options in alphabetical order, for `features`: the Nth, or NULL after the last. */
const char *runtime_mounts_option(size_t n, unsigned int libcrun);
