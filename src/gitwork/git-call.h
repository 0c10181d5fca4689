/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/json.h"

/*
 * The tools git.diff, git.fetch and git.push.  Each runs in a process of its own that is killed at the tool's time; it may block,
 * and needs no cleanup but that of its directory.
 */
struct git_remote;

struct git_call {
	const char *program; /* git */
	int state;	     /* directory for what the call makes */
	int top;	     /* the worktree, as the session has it */
	const struct jdoc *params;
	const struct git_remote *remote; /* of git.fetch and git.push */
};
