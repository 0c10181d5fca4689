/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json.h"
#include "state/digest-key.h"
#include "subject/subject.h"

/*
 * A subject as a document: approved, hashed (subject/subject-digest.h), compared (subject/subject-diff.h) and
 * stored.  It holds every field that affects execution; docs/design/subject.md lists the exceptions.  Values
 * of the environment are stored as HMACs, words of the command that have a secret redacted and with an HMAC; a plain
 * TERM, COLUMNS or LINES is omitted.
 */
#define SUBJECT_SCHEMA "custody.subject/1"

int subject_to_json(const struct subject *s, const struct digest_key *key, struct jdoc **ret,
		    struct fault *f) _must_check_;

/*
 * Reads the subject back, with a profile of its own that has the fields that bundle_config, rootfs_build and
 * a hook read.  Strict: a key that is unknown, missing or of the wrong type is refused with its name.  ENV is
 * process.env of a config.json: each "NAME=value" is accepted only if its HMAC is the document's, and each
 * name of the document must be present.  ARGS is its process.args: its last words are the command, and the true words of
 * those that are redacted in the document (subject/subject-redact.h); NULL: none is.  TIME_S is the run's own time limit
 * (0: none), refused if longer than the document's.  For bundles: disposable directories, a base and a repository beside the
 * worktree are refused.
 */
int subject_from_json(const struct jdoc *d, char *const *env, char *const *args, uint64_t time_s,
		      const struct digest_key *key, struct subject **ret, struct fault *f) _must_check_;
/* The same for the document of a session that runs, whose supervisor has proven those parts. */
int subject_from_session(const struct jdoc *d, char *const *env, char *const *args, uint64_t time_s,
			 const struct digest_key *key, struct subject **ret, struct fault *f) _must_check_;
