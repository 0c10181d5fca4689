/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/json.h"
#include "approval/grant.h"
#include "ledger/ledger-redact.h"
#include "approval/request.h"

/*
 * From a verdict to a yes or no, between policy and the intent: existing grants, grant files, a card on the
 * terminal, else a request and optionally the wait for its answer.  No answer, errors and interruptions are a
 * No.
 */
struct approval_ask {
	const struct approval_store *store; /* with a ledger */
	const struct jdoc *subject, *verdict;
	const struct digest *digest; /* of SUBJECT */
	char level;		     /* of VERDICT */
	const char *session;	     /* holder of the reservation */
	const struct redact
		*redact; /* additional redaction for lists and notices; NULL: only the built-in one */
	const char *agent, *worker,
		*user;		  /* AGENT and WORKER may be NULL; USER is the caller's name on this host */
	char *const *grants;	  /* files, as --grant names them; NULL: none */
	char *const *on_request;  /* argv; NULL: no command */
	unsigned int prompt_rate; /* cards per minute; 0: PROMPT_RATE_USUAL */
	bool yes;		  /* --yes: answers the card of a B, if a terminal exists */
	bool wait;
	uint64_t wait_s;	     /* 0: unlimited */
	const struct jdoc *standing; /* for the request: see struct request; NULL: none */
	const struct grant_query
		*standing_query; /* a standing approval that is signed meanwhile; NULL: none */
	const char *note;	 /* appended to the refusal; NULL: none */
};

#define APPROVAL_PROMPT_SECONDS 600u /* timeout of a card */

enum approval_state {
	APPROVAL_PENDING, /* no approval yet: a request is filed */
	APPROVAL_DENIED,  /* an approver denied it */
	APPROVAL_GRANTED, /* reserved for SESSION: consume it right before the start, or release it */
};

struct approval {
	enum approval_state state;
	int signal;		       /* that interrupted us: exit with 128 + this; else 0 */
	char request[REQUEST_ID_SIZE]; /* "" when none was filed */
	bool standing;		       /* GRANTED by a standing approval */
	struct grant_set grants;       /* GRANTED: reserved grants; level A: empty */
	char *text; /* else: what, why and the command to continue, one line, safe for a terminal */
};

/* A refusal is a result; negative is a failure to decide, which also refuses. */
int approval_obtain(const struct approval_ask *ask, struct approval *ret, struct fault *f) _must_check_;
void approval_done(struct approval *a);
#define _cleanup_approval_ _cleanup_(approval_done)
