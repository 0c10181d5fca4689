/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/* The small files of a cgroup directory.  Failures are a negative errno without text: callers know the directory. */
#define CGROUP_TEXT_MAX 4096

int cgroup_file_write(int dirfd, const char *name, const char *text) _must_check_;
int cgroup_file_read(int dirfd, const char *name,
		     char text[CGROUP_TEXT_MAX]) _must_check_; /* truncated at the maximum */
/* The number after "KEY " at the start of a line of TEXT; -ENOENT if it is missing. */
int cgroup_text_key(const char *text, const char *key, uint64_t *ret) _must_check_;
/* Is WORD one of the blank-separated words of TEXT? */
int cgroup_text_has(const char *text, const char *word) _must_check_;
