/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json.h"
#include "state/dirs.h"

/*
 * The part of ROOT/ID/custody.json about the session of a governed container.  Engines call the verbs after create almost
 * without environment, so it has the variables that state/dirs.c reads.
 */
struct engine_record {
	bool governed;
	enum lane lane;
	char *session;
	char *path; /* RUN/sessions/ID */
	struct jdoc *env;
	struct jdoc *
		resources; /* linux.resources of the engine, where the merge changed them; NULL: it did not */
};

#define ENGINE_RECORD_RESOURCES_MAX ((size_t)64 * 1024)

/* Member `governed` of the record of session ID. */
struct jdoc *engine_record_make(const struct dirs *d, const char *session);
/* DIR is ROOT/ID.  0 and GOVERNED false: a container that was created ungoverned.  -ENOENT: no record. */
int engine_record_read(const char *dir, struct engine_record *ret, struct fault *f) _must_check_;
/* Sets the variables and finds the directories of create. */
int engine_record_dirs(const struct engine_record *r, struct dirs *ret, struct fault *f) _must_check_;
void engine_record_done(struct engine_record *r);
#define _cleanup_engine_record_ _cleanup_(engine_record_done)
