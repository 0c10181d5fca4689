/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "base/digest.h"

/*
 * Compiled seccomp filters below the state root (ROOT/.seccomp, 0700): compiling docker's default takes longer than the rest
 * of a create.  KEY is a digest of all inputs of the compilation, so an entry is never stale; an entry contains its own
 * digest, so a truncated one is ignored.  A process that can write there can write the state of running containers as well.
 *
 * The cache never causes a failure: an entry that cannot be read or written is compiled.
 */
int seccomp_cache_load(const char *root, const struct digest *key, char **ret, size_t *ret_len);
void seccomp_cache_store(const char *root, const struct digest *key, const void *bytes, size_t len);
