/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"

/*
 * Where things live: the table of docs/design/files.md.  As root below /etc, /var/lib and /run, as a user below
 * the XDG directories; CUSTODY_ROOT=DIR moves all of them below DIR.  Nothing is created here.
 */
struct dirs {
	bool rootless;
	char *config;		/* /etc/custody */
	char *profiles_admin;	/* /etc/custody/profiles */
	char *profiles_user;	/* ~/.config/custody/profiles; NULL as root */
	char *profiles_shipped; /* PKGDATADIR/profiles */
	char *state;		/* /var/lib/custody/sandbox: of the lane */
	char *run;		/* /run/custody */
	char *libexec;		/* custody-init, custody-hook */
	char *home, *user;	/* of the caller: passwd, else HOME and LOGNAME */
};

int dirs_load(struct dirs *ret, struct fault *f) _must_check_;
void dirs_done(struct dirs *d);
#define _cleanup_dirs_ _cleanup_(dirs_done)
