/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/digest.h"
#include "base/fault.h"
#include "base/json.h"
#include "state/digest-key.h"
#include "subject/subject.h"

/*
 * A command in a container that runs already: a subject of its own.  Its document is that of the container, with the command, its directory
 * and its variables in place of the container's, and a member `exec` with the container's digest.  Nothing is sealed: the
 * processes of the container may change each file until the command runs.  docs/design/exec.md.
 */
struct subject_exec {
	char *const *argv;
	char *const *env;     /* NAME or NAME=value, over the container's variables */
	char *const *environ; /* the caller's */
	const char *workdir;  /* inside; NULL: the container's */
	bool terminal;	      /* TERM of the caller, unless the container has one */
};

/* S is the container's, from subject_from_json; it becomes the command's. */
int subject_exec_change(struct subject *s, const struct subject_exec *x, struct fault *f) _must_check_;

/* OF: digest of the container's document. */
int subject_exec_to_json(const struct subject *s, const struct digest *of, const struct digest_key *key,
			 struct jdoc **ret, struct fault *f) _must_check_;
