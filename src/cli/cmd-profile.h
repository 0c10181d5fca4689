/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/json.h"
#include "cli/command.h"
#include "state/dirs.h"
#include "state/project.h"
#include "profile/profile.h"

/* Directories that are searched for profiles; the project around the current directory is the worktree. */
struct profile_place {
	struct dirs dirs;
	char *cwd, *trust;
	struct project project;		   /* around CWD: its profiles may only tighten */
	const char *search[4], *labels[4]; /* "admin", "user", "shipped" */
	struct profile_sources src;
	struct profile_vars vars;
};

int profile_place_init(struct profile_place *p, struct fault *f) _must_check_;
void profile_place_done(struct profile_place *p);
#define _cleanup_profile_place_ _cleanup_(profile_place_done)

/* NAME as a path: "./" in front when it holds no '/'.  Heap, NULL on ENOMEM. */
char *profile_as_path(const char *name);
/* Prints indented JSON; fails if stdout cannot be written. */
int profile_print(const struct jdoc *doc, struct fault *f) _must_check_;
int profile_flush(struct fault *f) _must_check_;
/* "sha256:..." into object KEY. */
void profile_set_digest(struct jdoc *object, const char *key, const struct digest *d);
/* Prints "custody profile WHERE: TEXT" on stderr; control characters are escaped. */
void profile_report(const char *where, const char *text);
/* One value on one line; heap, NULL on ENOMEM. */
char *profile_value_text(const struct jdoc *v);
