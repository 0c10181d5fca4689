/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "subject/subject.h"

/*
 * May git, started in the root of the worktree, run no program but its own? True if .git is a directory whose config
 * has listed keys only, without hooks, submodules or a second configuration, and the home is not writable from a run
 * before. Checked by descriptor, links are not followed; anything else, and every error, is false.
 */
bool subject_git_is_plain(const struct subject *s);

/* The parts, for tests. */
bool git_config_is_plain(const char *text);
bool git_index_is_plain(const unsigned char *bytes, size_t len); /* no submodule in it */
