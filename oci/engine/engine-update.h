/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json.h"
#include "ledger/ledger.h"
#include "oci/engine/engine-limit.h"
#include "oci/engine/engine-record.h"

/*
 * `update` of a governed container: nothing becomes looser than what create was allowed.  docs/design/engine.md.
 *
 *	engine_update_open	one at a time; 0 and GOVERNED false: nothing to decide
 *	engine_update_decide	refused or recorded; what libcrun gets
 *	...			libcrun sets it; if that fails, the caller sets engine_update_undo
 *	engine_update_end	what was set, for the next one
 *
 * RUN/sessions/ID/update has what was set since create, and which calls of a kubelet are recorded.
 */
struct engine_update {
	struct engine_record record; /* GOVERNED: of create */
	const char *container;	     /* borrowed */

	/* Private. */
	struct dirs dirs;
	int session, lock;
	struct engine_limits limits;
	struct jdoc *asked, *next;
	struct jdoc *seen; /* digests of calls that are recorded and changed nothing since */
	struct engine_limits_result result;
	struct ledger *ledger;
	bool cri;      /* the caller repeats a refused call for ever: it is clamped */
	bool repeated; /* the same call with the same result is recorded */
	char digest[DIGEST_HEX_SIZE];
};
#define ENGINE_UPDATE_NONE ((struct engine_update){ .session = -EBADF, .lock = -EBADF })

/* DIR is ROOT/ID, V2 the version of its cgroup. */
int engine_update_open(const char *dir, const char *container, bool v2, struct engine_update *ret,
		       struct fault *f) _must_check_;
/* TEXT: resources, checked by runtime_types_require_resources.  *RET_SET (heap): for libcrun; NULL: nothing to set. */
int engine_update_decide(struct engine_update *u, const char *text, char **ret_set,
			 struct fault *f) _must_check_;
/* What was set before, of the members that DECIDE returned; heap, NULL: nothing, or no memory. */
char *engine_update_undo(const struct engine_update *u);
/* R: result of libcrun, with F.  Returns R, or why the result was not kept. */
int engine_update_end(struct engine_update *u, int r, struct fault *f) _must_check_;
void engine_update_done(struct engine_update *u);
#define _cleanup_engine_update_ _cleanup_(engine_update_done)
