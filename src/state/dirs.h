/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"
#include "state/lane.h"

/*
 * Directories of custody: the table of docs/design/files.md. As root below /etc, /var/lib and /run, as a user
 * below the XDG directories, also as root of a user namespace of a user; CUSTODY_ROOT=DIR moves all of them below DIR.
 * Nothing is created here.
 */
struct dirs {
	bool rootless;
	enum lane lane;
	char *config;		/* /etc/custody */
	char *profiles_admin;	/* /etc/custody/profiles */
	char *profiles_user;	/* ~/.config/custody/profiles; NULL as root */
	char *profiles_shipped; /* PKGDATADIR/profiles */
	char *config_admin;	/* /etc/custody/custody.json */
	char *config_user;	/* ~/.config/custody/custody.json; NULL as root and with CUSTODY_ROOT */
	char *base;		/* /var/lib/custody: above the lanes */
	char *state;		/* /var/lib/custody/LANE */
	char *data; /* parent of the lanes' sandbox roots; same as BASE, except for a user: ~/.local/share/custody */
	char *sandboxes;     /* DATA/LANE/sandbox: one sandbox root per name */
	char *homes;	     /* DATA/LANE/home: one directory per project and name; state/home-dir.h */
	char *run;	     /* /run/custody */
	char *libexec;	     /* custody-init, custody-hook */
	char *home, *user;   /* of the caller: passwd, else HOME and LOGNAME */
	char **caller_homes; /* HOME and others that are the caller's: state/caller-homes.h */
};

int dirs_load(struct dirs *ret, struct fault *f) _must_check_; /* of the sandbox lane */
int dirs_load_lane(enum lane lane, struct dirs *ret, struct fault *f) _must_check_;
void dirs_done(struct dirs *d);
#define _cleanup_dirs_ _cleanup_(dirs_done)

/*
 * Opens PATH (absolute), created with MODE if missing. Refused if another user can write it or replace it in
 * its parent, because its content is trusted. Returns a dirfd.
 */
int dirs_open_own(const char *path, mode_t mode, struct fault *f) _must_check_;
int dirs_require_own(int fd, const char *path, struct fault *f) _must_check_; /* the check alone */
