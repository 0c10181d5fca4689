/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * Could only the engine, or root, have put a file at PATH, which is absolute and resolved?  Every directory above it belongs to root
 * or to our own user, and no other may write there.  Root of a user namespace owns all that it can change: true.
 */
bool engine_place_is_own(const char *path);
