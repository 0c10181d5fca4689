/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "cli/command.h"
#include "evidence/delivery.h"
#include "evidence/evidence-store.h"

/* One call of `custody evidence COMMAND`, with the store of its lane. */
struct evidence_call {
	const struct command_call *call;
	struct delivery_place place;
};

/*
 * NAME as for evidence_open; NULL, `-` and `last`: the newest of a session of this directory, printed on stderr.
 * Opens it among staged evidence, then in the store; RET_STORE (borrowed, may be NULL) is the place.  Fails if the store
 * does not respond; does not wait for it.
 */
int evidence_locate(const struct evidence_call *c, const char *name, char **ret_name, const char **ret_store,
		    struct fault *f) _must_check_;
/* Fails if the store is not mounted or does not respond. */
int evidence_require_store(const struct evidence_call *c, struct fault *f) _must_check_;

int evidence_print_json(struct jdoc *d, struct fault *f); /* adds schema_version; returns the exit status */

int evidence_cmd_ls(const struct evidence_call *c, struct fault *f);
int evidence_cmd_show(const struct evidence_call *c, struct fault *f);
int evidence_cmd_verify(const struct evidence_call *c, struct fault *f);
int evidence_cmd_restore(const struct evidence_call *c, struct fault *f);
int evidence_cmd_pin(const struct evidence_call *c, struct fault *f);
int evidence_cmd_unpin(const struct evidence_call *c, struct fault *f);
int evidence_cmd_rm(const struct evidence_call *c, struct fault *f);
int evidence_cmd_prune(const struct evidence_call *c, struct fault *f);
int evidence_cmd_deliver(const struct evidence_call *c, struct fault *f);
int evidence_cmd_diff(const struct evidence_call *c, struct fault *f);
