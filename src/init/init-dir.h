/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * Calls EACH for every entry of PATH but "." and ".."; DIR is the directory's own descriptor. 1 if every call
 * returned true, 0 if one returned false (the walk stops there), or negative errno.
 */
long dir_each(const char *path, bool (*each)(void *arg, const char *name, int dir), void *arg);
