/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "init/init-facts.h"
#include "init/init-options.h"
#include "layer/init-proto.h"

/*
 * One proof per layer, from inside, before any other program runs. Each reads the kernel's state of this
 * process and, if a call exists that only this layer refuses, tries it. Tests of all layers but seccomp use
 * only calls that the filter allows, so that no layer is credited with the refusal of another.
 */
struct prove {
	const struct init_options *options;
	struct init_msg *report;
	struct facts_status status;
};

void init_prove(const struct init_options *o, struct init_msg *report, struct facts_status *ret_status);

/* Parts, by subject.  Each fills the proofs of its layers. */
void prove_namespaces(struct prove *p);
void prove_mounts(struct prove *p);
void prove_process(struct prove *p);

/* Sets the result of a proof; the caller writes the detail to the returned line. */
struct line proof_line(struct prove *p, enum layer l);
void proof_set(struct prove *p, enum layer l, bool holds, long tried);
