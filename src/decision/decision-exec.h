/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "decision/decision.h"

/*
 * Steps of the decision about a command in a running container, in addition to those of decision.h: `exec` of custody.json and of the
 * profile's section GOVERNANCE (NULL: none).  docs/design/exec.md.
 */

/* The stricter one of both. */
enum config_exec decision_exec_rule(const struct config *c, const struct jdoc *governance);

/* Before step 3: refused by name if either denies every such command. */
int decision_exec_require(struct decision *d, const struct jdoc *governance, struct fault *f) _must_check_;
/*
 * Between 3 and 4: level B needs no approval if custody.json allows it and the profile is not stricter.  Never level C: an unbounded
 * delete needs a person and the PIN.
 */
void decision_exec_exempt(const struct decision *d, struct decision_question *q);
