/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "base/fault.h"

#define HOSTNAME_SIZE 254 /* 253 characters and NUL */
#define HOSTNAME_LABEL_MAX 63

/*
 * The canonical spelling of a host's name, so that two names are the same host exactly if they are the same bytes: lower case, labels
 * of a-z, 0-9, '-' and '_', no dot at the end.  -EINVAL: any spelling that some program takes for an address (1.2.3.4, 2130706433,
 * 0x7f.1, 017700000001, ::1), bytes that are not ASCII, empty or long labels, blanks, controls.  TEXT needs no NUL.
 */
int hostname_parse(const char *text, size_t len, char ret[HOSTNAME_SIZE], struct fault *f) _must_check_;
