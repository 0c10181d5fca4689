/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/fault.h"
#include "base/id-map.h"
#include "base/json.h"
#include "layer/layer.h"
#include "session/exit-reason.h"
#include "session/session-summary.h"

/* Ids of the user namespace: "block" of root's session, the caller's "single" one, "subordinate", or those of the "host". */
struct run_ids {
	const char *mode;  /* NULL: not known */
	struct id_map map; /* of subordinate ids; else not set */
	char *why; /* heap: why the caller's subordinate ids are not used; NULL: not asked for, or they are */
};

/*
 * How a run of custody ended: `--result` and `--json` print it for scripts.  Borrowed strings must outlive it; `detail`, `remedy`,
 * `evidence` and `evidence_error` are on the heap.
 */
struct run_result {
	char session[SESSION_ID_SIZE];
	const char *lane;			   /* NULL: not known */
	const char *digest;			   /* of the subject, "sha256:..."; NULL: not known */
	const struct jdoc *verdict;		   /* of policy; NULL: policy was not evaluated */
	const char *profile;			   /* name */
	const struct digest *profile_digest;	   /* may be NULL */
	char *const *argv;			   /* the command */
	const char *name, *agent, *worker, *issue; /* as given; NULL: not given */
	struct exit_verdict exit;
	bool open_line;		       /* standard output ended without a newline; only if the job asked */
	const char *disk_by;	       /* mechanism of the disk limit; NULL: there is no limit */
	uint64_t disk_bytes;	       /* with it: the limit */
	int output_error;	       /* errno: some of the command's output could not be delivered */
	bool worktree_lost;	       /* the server of the worktree exited before the command did */
	bool unrecorded;	       /* the end could not be written to the ledger */
	struct jdoc *full;	       /* heap: the private places that were full; NULL: none */
	char *evidence;		       /* path; NULL: none was captured */
	struct digest evidence_digest; /* of its metadata.json */
	bool evidence_staged;	       /* EVIDENCE is not its final path (evidence/delivery.h) */
	uint64_t evidence_bytes;       /* of its files */
	uint64_t evidence_shared;      /* of them: hard links to the kept changes */
	char *evidence_error;	       /* why none could be captured; NULL: no error */
	const char *worktree;	       /* host path; NULL: none */
	const struct run_ids *ids;     /* NULL: not known */
	char *const *chain;	       /* sessions that it continues, its base first; NULL: none */
	const struct digest *base;     /* with it: manifest of the changes that it began on */
	bool kept;		       /* the changes are kept for review, and their size is: */
	uint64_t kept_files, kept_bytes;
	char *remedy; /* of a refusal: lines for people, with commands to paste; NULL: none */
	char *detail; /* one human-readable line: the error, or the exceeded limit; NULL: none */
	enum layer_state layers[_LAYER_MAX];
	bool proven;		       /* `layers` was verified in the running container */
	uint64_t started_us, ended_us; /* wall clock; payload released, session over */
	uint64_t duration_ms;
};

/* END and description of R; both borrow from R, the description also from COMMAND, which is run_result_command(R). */
struct ledger_end run_result_end(const struct run_result *r);
struct session_summary run_result_summary(const struct run_result *r, const struct jdoc *command);
struct jdoc *run_result_command(const struct run_result *r);

struct jdoc *run_result_to_json(const struct run_result *r);
void run_result_done(struct run_result *r);
#define _cleanup_run_result_ _cleanup_(run_result_done)
