/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/id-map.h"

/*
 * The caller's subordinate ids on this host: container id 0 is the caller, the ids from 1 on are the ranges that /etc/subuid
 * and /etc/subgid grant, and newuidmap and newgidmap can map them.
 *
 * -ENOENT: none are granted, or the programs are missing.  Any other fault: there are some, and they must not be used.
 */
int subordinate_ids_find(struct id_map *ret, struct fault *f) _must_check_;
