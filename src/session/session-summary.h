/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "base/digest.h"
#include "base/json.h"
#include "layer/layer.h"
#include "ledger/ledger-session.h"

/*
 * Description of an ended session.  The result of a run (`--result`, `--json`) and metadata.json of its evidence have the
 * keys of this document; changes to it are additive.  Everything is borrowed; NULL or 0: unknown.
 */
#define SESSION_SUMMARY_SCHEMA 1

enum session_summary_kind {
	SESSION_SUMMARY_RUN,	   /* a run of custody: unknown values are written as null */
	SESSION_SUMMARY_CONTAINER, /* a container of another runtime: has no name, agent, worker, issue, layers */
	SESSION_SUMMARY_LOST, /* a run whose supervisor died, read from its records: unknown values are left out */
};

struct session_summary {
	enum session_summary_kind kind;
	const char *session, *lane;
	const char *container, *bundle; /* the other runtime's id, and the directory of the bundle */
	const char *profile;
	const struct digest *profile_digest;
	const char *digest;	    /* of the subject, "sha256:..." */
	const struct jdoc *verdict; /* of policy; NULL: policy was not evaluated */
	const struct jdoc *command; /* array */
	const char *name, *agent, *worker, *issue;
	struct ledger_end end;
	const char *detail;
	const enum layer_state *layers; /* _LAYER_MAX of them; NULL: not proven */
	char *const
		*chain; /* sessions that it continues, its base first; NULL: none, and the key is left out */
	const struct digest *base;     /* with it: manifest of the changes that it began on; NULL: unknown */
	uint64_t started_us, ended_us; /* wall clock: payload released, session over */
};

struct jdoc *session_summary_to_json(const struct session_summary *s);
