/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/json.h"

/*
 * Is PROCESS a command that was approved with the container?  Its words are an item of ALLOW, one by one, and it differs from CONTAINER,
 * the container's own process, in nothing that a probe does not need: same uid and gid, no other variable, no
 * capability more, no other scheduling; the directory is the container's or "/".  What engine_exec_merge judges is left to it.
 *
 * podman adds HOME, which libcrun sets by itself from the user's entry in the container, and finds other groups: a probe loses the
 * one, and gets the groups of the container's process.
 */
bool engine_exec_take_probe(const struct jdoc *allow, const struct jdoc *container, struct jdoc *process);
