/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/place.h"
#include "state/dirs.h"

/*
 * custody's own directories, resolved, with the places that a sandbox could see them at.  Each is resolved at its first
 * use and once: every source of a run is compared with all of them.  The mount table is read once, too.
 */
enum own_dir_name {
	OWN_DIR_CONFIG,
	OWN_DIR_PROFILES_ADMIN,
	OWN_DIR_PROFILES_USER,
	OWN_DIR_PROFILES_SHIPPED,
	OWN_DIR_BASE,
	OWN_DIR_DATA,
	OWN_DIR_RUN,
	OWN_DIR_LIBEXEC,
	OWN_DIR_SANDBOX,  /* state of the lane */
	OWN_DIR_PROD,	  /* state of the lane */
	OWN_DIR_EVIDENCE, /* BASE/forensics */
	_OWN_DIR_MAX
};

struct own_dir {
	char *path;	      /* no links; parts that do not exist yet are created there */
	struct place *places; /* of the path, then of mounts below it */
	size_t n_places;
};

struct own_dirs {
	const struct dirs *dirs; /* outlives this */
	struct place_table mounts;
	struct own_dir dir[_OWN_DIR_MAX];
};

void own_dirs_init(struct own_dirs *o, const struct dirs *d);
void own_dirs_done(struct own_dirs *o);
#define _cleanup_own_dirs_ _cleanup_(own_dirs_done)

/* PATH resolved as far as it exists; heap, NULL on ENOMEM. */
char *own_dirs_resolve(const char *path);
/* 0 with *RET NULL: this caller has no such directory. */
int own_dirs_path(struct own_dirs *o, enum own_dir_name name, const char **ret, struct fault *f) _must_check_;
/* The same with its places. */
int own_dirs_get(struct own_dirs *o, enum own_dir_name name, const struct own_dir **ret,
		 struct fault *f) _must_check_;
/* The mount table, which *O keeps. */
int own_dirs_mounts(struct own_dirs *o, const struct place_table **ret, struct fault *f) _must_check_;
/* Place of PATH, which is resolved. */
int own_dirs_place(struct own_dirs *o, const char *path, struct place *ret, struct fault *f) _must_check_;
/* Place of PATH, then of mounts below it, as own_dirs_get() has them for custody's own. */
int own_dirs_places(struct own_dirs *o, const char *path, struct own_dir *ret, struct fault *f) _must_check_;
void own_dir_done(struct own_dir *d);
#define _cleanup_own_dir_ _cleanup_(own_dir_done)
