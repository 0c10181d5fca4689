/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/json.h"
#include "evidence/evidence-capture.h"
#include "evidence/evidence-probe.h"
#include "evidence/evidence-source.h"

/*
 * metadata.json: the summary of the session (session/session-summary.h), then the evidence itself.  Changes are additive.
 * Composed here only.
 */

/* Keys that do not depend on the tree: session, scope, worktree, retention, end of the session's own ledger. */
struct jdoc *evidence_metadata_describe(const struct evidence_case *c, const struct evidence_source *s);
/* Adds the keys of a captured tree to O: time, status and its reason, hidden paths, target, tree. */
void evidence_metadata_complete(struct jdoc *o, const struct evidence_request *r,
				const struct evidence_taken *taken, const struct evidence_probe *probe);

/* metadata.json of the evidence directory DIR; NULL: missing or not valid. */
struct jdoc *evidence_metadata_read(int dir);
