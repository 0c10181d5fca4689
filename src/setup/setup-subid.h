/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * /etc/subuid and /etc/subgid: lines "OWNER:START:COUNT", OWNER a name or a uid.  Other programs change them too (useradd,
 * usermod), under FILE.lock as in shadow; they are replaced whole.
 */
#define SETUP_SUBID_COUNT 65536

struct setup_subid_file {
	const char *path;
	const char *accounts, *kind; /* whose ids are not free: /etc/passwd, "user" */
	uint32_t self;		     /* the user's own id in it: a uid or a gid */
	char *text, *names;	     /* of PATH and of ACCOUNTS */
	bool exists;
};

/* TEXT and NAMES, which setup_subid_done releases also after a fault. */
int setup_subid_load(struct setup_subid_file *file, struct fault *f) _must_check_;
void setup_subid_done(struct setup_subid_file *file);

/* Pure.  1: NAME (or UID) has a range; 0: none.  Refuses everything that a run refuses (state/subid.h). */
int setup_subid_check(const struct setup_subid_file *file, const char *name, uid_t uid,
		      struct fault *f) _must_check_;
/* Pure: is START, and each of the SETUP_SUBID_COUNT - 1 ids after it, in no range of the file and the id of no account? */
bool setup_subid_is_free(const struct setup_subid_file *file, uint64_t start);

/* "" for a missing file; *RET_EXISTS may be NULL. */
int setup_subid_read(const char *path, char **ret, bool *ret_exists, struct fault *f) _must_check_;
/* How a file with TEXT differs from one whose lines all end: "absent", "open" (its last line has no end), "". */
const char *setup_subid_state(const char *text, bool exists);
int setup_subid_has_line(const char *path, const char *line, struct fault *f) _must_check_;
int setup_subid_add_line(const char *path, const char *line, struct fault *f) _must_check_;
/* The file gets the state BEFORE again, unless others changed it since. */
int setup_subid_remove_line(const char *path, const char *line, const char *before,
			    struct fault *f) _must_check_;
