/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/fault.h"
#include "base/json.h"
#include "layer/layer.h"
#include "session/exit-reason.h"

/*
 * How a run ended, for scripts: `--result`, `--json` and later metadata.json have this shape.  Additive changes
 * only.  Borrowed texts must outlive it; `detail` is its own.
 */
#define RESULT_SCHEMA 1

struct run_result {
	char session[SESSION_ID_SIZE];
	const char *lane;			   /* NULL: not known */
	const char *digest;			   /* of the subject, "sha256:..."; NULL: not known */
	const struct jdoc *verdict;		   /* what policy said; NULL: it was not asked */
	const char *profile;			   /* name */
	const struct digest *profile_digest;	   /* may be NULL */
	char *const *argv;			   /* the command */
	const char *name, *agent, *worker, *issue; /* as given; NULL: not */
	struct exit_verdict exit;
	int output_error;	       /* errno: some of the command's output could not be delivered */
	bool worktree_lost;	       /* what served the worktree ended before the command did */
	bool unrecorded;	       /* the ledger did not take its end */
	char *evidence;		       /* path; NULL: none was taken */
	struct digest evidence_digest; /* of its metadata.json */
	bool evidence_staged;	       /* EVIDENCE is not its last place (evidence/delivery.h) */
	char *evidence_error;	       /* why none could be taken; NULL: nothing failed */
	char *detail; /* one line for people: what failed, which limit was hit; NULL: nothing to say */
	enum layer_state layers[_LAYER_MAX];
	bool proven;		       /* `layers` was filled by a proof */
	uint64_t started_us, ended_us; /* wall clock; payload released, session over */
	uint64_t duration_ms;
};

struct jdoc *result_describe(const struct run_result *r);
void result_done(struct run_result *r);
#define _cleanup_result_ _cleanup_(result_done)
