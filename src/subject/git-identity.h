/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/cleanup.h"

/* user.name and user.email of a person's git configuration; NULL: not set, or not to be passed. */
struct git_identity {
	char *name, *email;
};

void git_identity_done(struct git_identity *g);
#define _cleanup_git_identity_ _cleanup_(git_identity_done)

/*
 * Of HOME/.gitconfig, else of XDG/git/config (XDG NULL: HOME/.config), read as git does but without git and without what
 * they include.  Only a regular file of this user, no link, at most GIT_IDENTITY_FILE_MAX bytes; a file that cannot be
 * read or is malformed counts as absent.
 */
#define GIT_IDENTITY_FILE_MAX (64 * 1024)
void git_identity_load(const char *home, const char *xdg, struct git_identity *ret);

/* The text of one file: replaces what it sets in RET.  Nothing is replaced if it is malformed. */
void git_identity_parse(const char *text, struct git_identity *ret);
