/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "base/digest.h"

/*
 * Compiled seccomp filters, kept below the state root (ROOT/.seccomp, 0700): compiling docker's default takes longer
 * than everything else that a create does.  KEY is a digest of all that goes into the compilation, so an entry is
 * never stale; it carries its own digest, so a torn one is none.  Whoever can write there can write the filters of
 * running containers as well.
 *
 * A cache never fails: what cannot be read is compiled, what cannot be written is compiled again.
 */
int seccomp_cache_load(const char *root, const struct digest *key, char **ret, size_t *ret_len);
void seccomp_cache_store(const char *root, const struct digest *key, const void *bytes, size_t len);
