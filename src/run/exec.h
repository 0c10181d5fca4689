/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "config/config.h"
#include "run/run-options.h"
#include "session/run-result.h"
#include "session/session-note.h"
#include "state/dirs.h"

/*
 * `custody exec`: a command in a running session, decided and recorded as a subject of its own.  docs/design/exec.md.
 * Of the options: command, variables, directory, terminal, approval, names.
 */
struct exec;

/* The lane gate: before the session is looked for.  On a refusal RET exists as well, and *RET_STATUS is its exit status. */
int exec_enter(const struct run_options *o, const struct dirs *d, const struct config *c, struct exec **ret,
	       int *ret_status, struct fault *f) _must_check_;
/*
 * From the decision to the end.  Negative: nothing was executed, F says why, and RET->exit.code is the exit status; the refusal is
 * recorded.
 */
int exec_run(struct exec *e, const struct session_note *n, struct run_result *ret,
	     struct fault *f) _must_check_;
void exec_free(struct exec *e);
DEFINE_CLEANUP(struct exec, exec_free)
#define _cleanup_exec_ _cleanup_(exec_freep)
