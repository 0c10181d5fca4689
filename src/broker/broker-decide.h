/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "broker/broker-tools.h"

/*
 * The decision about one call, for every door: the steps in the order of this enumeration, and the first one that refuses
 * counts.  Pure but for the two functions that the caller passes.  Zero refuses.
 */
enum broker_step {
	BROKER_PEER,	   /* the other end is no process of the session */
	BROKER_TOKEN,	   /* not the session's, or the session is over */
	BROKER_TOOL,	   /* not in the profile */
	BROKER_PARAMS,	   /* not the parameters that its declaration lists */
	BROKER_SCOPE,	   /* a parameter is missing or names another thing than the session's */
	BROKER_BUDGET,	   /* from here on a refusal has used the budget */
	BROKER_INSPECTION, /* the parameters have a secret, or what docs/design/inspection.md lists */
	BROKER_APPROVAL,
	BROKER_ALLOWED,
};
const char *broker_step_name(
	enum broker_step s); /* "peer", "token" ...: `code` of a refusal, and its name in the ledger */

/* Values of the session that `scope` can name; NULL: the session has none, and a call that needs it is refused. */
struct broker_values {
	const char *session, *agent, *worker, *issue, *lane;
};

struct broker_call {
	bool peer, token; /* results of the checks of the door */
	const char *tool;
	const struct jdoc *params; /* an object */
	uint64_t calls;		   /* of the session so far */
};

/* Negative: refused, F has the reason for the caller inside.  NULL: nothing to check, and level B or C is refused. */
struct broker_checks {
	int (*inspect)(void *arg, const struct broker_tool *t, const struct jdoc *params, struct fault *f);
	int (*approve)(void *arg, const struct broker_tool *t, const struct jdoc *params, struct fault *f);
	void *arg;
};

struct broker_decision {
	enum broker_step step;
	const struct broker_tool *tool; /* NULL before step TOOL */
	bool counted;			/* the caller adds one to the session's calls */
};

/* F has the reason of a refusal. */
struct broker_decision broker_decide(const struct broker_tools *tools, const struct broker_values *values,
				     const struct broker_call *call, const struct broker_checks *checks,
				     struct fault *f);
