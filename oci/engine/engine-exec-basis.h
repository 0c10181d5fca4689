/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/engine/engine.h"

/*
 * What create keeps in the container info for commands that `exec` starts later: the section `governance` of the profile, the facts
 * of the container for policy, and the commands that start without a question.  The profile's file and the engine's
 * files may have changed by then.
 */
struct engine_exec_basis {
	struct jdoc *governance;   /* NULL: the profile has none */
	struct jdoc *allow;	   /* list of argv; NULL: none */
	uint32_t layers;	   /* LAYER_BIT()s that the container has */
	struct policy_facts facts; /* without command, directory and variables; borrows from this struct */

	/* Owned, for FACTS. */
	struct jdoc *document;
	struct policy_mount *rw;
};

/* NULL: out of memory. */
struct jdoc *engine_exec_basis_make(const struct engine_container *c, const struct profile *profile);
/* D is from engine_exec_basis_make, and is copied.  -EINVAL: it is not. */
int engine_exec_basis_read(const struct jdoc *d, struct engine_exec_basis *ret, struct fault *f) _must_check_;
/* The command gets a descriptor of the caller, which may write anywhere.  Once. */
void engine_exec_basis_add_host(struct engine_exec_basis *b);
void engine_exec_basis_done(struct engine_exec_basis *b);
#define _cleanup_engine_exec_basis_ _cleanup_(engine_exec_basis_done)
