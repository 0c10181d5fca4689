/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/cmd-review.h"

/* Review of sessions that continue each other: docs/design/continue.md. */

/* STATUS_NO, and a message: sessions continue this one, so that it is neither applied nor discarded. */
int review_require_last(const struct review_call *r, struct fault *f) _must_check_;
/* The changes of the session as one upper: its own, or the sum with those that it continues. */
int review_open_layer(struct review_call *r, struct fault *f) _must_check_;
/* Instead of a lock on kept changes: those of a session that runs, as they are now.  STATUS_NO, and a message: none. */
int review_open_running(struct review_call *r, struct fault *f) _must_check_;
/* The same for the repository beside its worktree, whose directory G has. */
int review_read_running_repository(struct review_call *g, struct fault *f) _must_check_;
/* After everything was applied: the sessions that it continued have nothing left, unless others continue them too. */
int review_drop_chain(struct review_call *r, struct fault *f) _must_check_;
