/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "approval/grant.h"
#include "approval/request.h"

/* An approver decides on a request at a terminal: card, question, PIN, signature. */
struct approval_prompt {
	const struct approval_store *store;
	const struct request *request;
	const char *as;		  /* which approver; NULL: the caller's own */
	const char *user;	  /* the caller's name on this host */
	struct grant_terms terms; /* level is set here */
	bool yes;		  /* the answer of a B was given on the command line */
	bool alone;		  /* ... and no terminal is needed for it */
	unsigned int rate;	  /* cards per minute; 0: unlimited */
};

enum approval_prompt_answer {
	APPROVAL_PROMPT_UNAVAILABLE, /* cannot ask: TEXT has the reason */
	APPROVAL_PROMPT_NO_ANSWER,   /* no answer: end of input, a signal, timeout */
	APPROVAL_PROMPT_NO,
	APPROVAL_PROMPT_YES, /* GRANT is signed and stored */
};

struct approval_prompt_result {
	enum approval_prompt_answer answer;
	bool unseen; /* UNAVAILABLE because of a missing terminal */
	int signal;  /* that interrupted the question */
	char *text;  /* UNAVAILABLE, NO_ANSWER: reason; one line for a terminal */
	char by[APPROVER_NAME_MAX + 1];
	struct grant grant;
	bool complete; /* a start would find enough approvals now */
};

int approval_prompt_ask(const struct approval_prompt *p, struct approval_prompt_result *ret,
			struct fault *f) _must_check_;
void approval_prompt_result_done(struct approval_prompt_result *r);
#define _cleanup_approval_prompt_result_ _cleanup_(approval_prompt_result_done)

/* Appends the card of a request to OUT, as `custody pending ID` prints it, without cuts. */
int approval_prompt_card(const struct approval_store *d, const struct request *rq,
			 const struct grant_terms *terms, int fd, bool full, struct strbuf *out,
			 struct fault *f) _must_check_;
