/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * Calls EACH for every entry of PATH but "." and ".."; DIR is the directory's own descriptor.  1 when every call
 * said true, 0 when one said false (the walk ends there), negative errno.
 */
long dir_each(const char *path, bool (*each)(void *arg, const char *name, int dir), void *arg);
