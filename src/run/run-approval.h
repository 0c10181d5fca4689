/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "decision/decision.h"
#include "run/run-options.h"
#include "run/run-plan.h"

/* The approval of an own run: grant files, the card on the terminal, a request, the wait for its answer. */
struct run_approval {
	const struct run_options *options;
	const struct run_plan *plan; /* with its document */
};

/* As struct decision_question calls it; ARG is a struct run_approval. */
int run_approval_ask(void *arg, struct decision *d, struct fault *f) _must_check_;
