/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "state/lane.h"

/*
 * Containers whose warden and backup process were both killed: no process supervises them, and an engine's host may never call
 * `custody`.  So the warden of the next container kills them, keeps their worktrees and records their ends as `lost`.
 *
 * In a process of its own without any descriptor of the caller: it may take as long as a worktree is large, and the caller's locks
 * must be free once the caller has died.  Dead runs of custody itself stay: their runtime state and cgroups are removed by
 * `custody run` and `custody recover`.
 */
void container_sweep_start(enum lane lane);
