/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/fault.h"

/*
 * Directories of the caller's PATH below the home directory and /opt, and the files that the programs in them need: a
 * table has the parts of known language managers; PREFIX/bin beside PREFIX/lib has four parts of PREFIX; any other
 * directory is shown alone.  No place contains, or is in, a directory where programs keep secrets.
 */
struct tool_places {
	char **dirs;  /* of PATH, in its order */
	char **shown; /* files and directories, resolved, no link in any of them; they exist */
	char **env;   /* "NAME=VALUE" by which a manager finds its parts */
	char **left; /* "'DIR' (reason)": directories of PATH that are not shown, although they are not the system's */
};

struct own_dirs;

struct tool_search {
	const char *path;	 /* the caller's PATH; NULL: empty */
	const char *home;	 /* the caller's HOME; NULL: none */
	const char *passwd_home; /* as the system has it; NULL: none */
	const char *worktree;	 /* resolved; a place in it, or around it, is left out; NULL: none */
	struct own_dirs *own;	 /* custody's: commands write to sandbox roots in them; NULL: not known */
};

int tool_places_find(const struct tool_search *t, struct tool_places *ret, struct fault *f) _must_check_;
void tool_places_done(struct tool_places *p);
#define _cleanup_tool_places_ _cleanup_(tool_places_done)

/* Is PATH, resolved, one of the shown files, or below a shown directory? */
bool tool_places_has(const struct tool_places *p, const char *path);
