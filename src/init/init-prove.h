/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "init/init-facts.h"
#include "init/init-options.h"
#include "layer/init-proto.h"

/* The working directory, between entering it and the pass over mountinfo. */
struct prove_cwd {
	long entered;	/* 0, or negative errno */
	uint64_t mount; /* its id; 0: unknown */
	bool mounted;	/* mountinfo has that id */
};

/*
 * One proof per layer, from inside, before any other program runs. Each reads the kernel's state of this
 * process and, if a call exists that only this layer refuses, tries it. Tests of all layers but seccomp use
 * only calls that the filter allows, so that no layer is credited with the refusal of another.
 */
struct prove {
	const struct init_options *options;
	struct init_msg *report;
	struct facts_status status;
	char status_text[4096]; /* /proc/self/status */
	struct prove_cwd cwd;
};

void init_prove(const struct init_options *o, struct init_msg *report);

/* Parts, by subject.  Each fills the proofs of its layers. */
void prove_namespaces(struct prove *p);
void prove_mounts(struct prove *p);
void prove_process(struct prove *p);

/* Resets what the caller of the runtime left: before init is not dumpable, because its files in /proc are then root's. */
void inherit_prepare(void);
/* The rows of layer/inherit-table.h that no other layer proves. */
void prove_inherited(struct prove *p);

/* After the proof of the descriptors, before mountinfo is read; then the proof itself. */
void cwd_enter(struct prove *p);
void prove_cwd(struct prove *p);

/* Sets the result of a proof; the caller writes the detail to the returned line. */
struct line proof_line(struct prove *p, enum layer l);
void proof_set(struct prove *p, enum layer l, bool holds, long tried);
