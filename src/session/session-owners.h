/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/id-map.h"

/*
 * The files of a run with subordinate ids go back to the caller when its processes are gone: the disk keeps files of the caller
 * only, so review, evidence and removal need no other id, also when /etc/subuid has changed since.
 *
 * STATE/sessions/ID/ids (state/file-owners.h) has the map of ids from before the container is created until every owner is
 * changed, so the next start finishes what a killed supervisor left.
 */
/* DIR: the session's state. */
int session_owners_note(int dir, const struct id_map *ids, struct fault *f) _must_check_;
/* The noted map; without one RET is not set. */
int session_owners_read(int dir, struct id_map *ret, struct fault *f) _must_check_;
/* Changes the owner of every file of another id; nothing without a noted map. */
int session_owners_return(int dir, struct fault *f) _must_check_;
