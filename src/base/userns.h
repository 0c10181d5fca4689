/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/id-map.h"

/*
 * Enters a user namespace that maps only our own id, with every capability over files of that id: a user's
 * own directory without permissions can be read there without a chmod. Other owners appear as 65534. For a
 * single-threaded process that exits soon: it cannot be left.
 */
int userns_enter(struct fault *f) _must_check_;

/*
 * The same for the ids of MAP as well (subordinate ids, id-map-write.h): files of these owners can be read, changed and
 * removed.  Every id keeps its number.  Without a map: userns_enter.
 */
int userns_enter_map(const struct id_map *map, struct fault *f) _must_check_;
