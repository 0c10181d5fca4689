/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "approval/grant.h"
#include "approval/request.h"

/* A person decides about a request, at a terminal: card, question, PIN, signature. */
struct approval_person {
	const struct approval_store *desk;
	const struct request *request;
	const char *as;		  /* which approver; NULL: the caller's own */
	const char *user;	  /* the caller's name on this host */
	struct grant_terms terms; /* level is filled here */
	bool yes;		  /* the answer of a B was given on the command line */
	bool alone;		  /* ... and no terminal is needed for it */
	unsigned int rate;	  /* cards per minute; 0: as many as there are */
};

enum person_answer {
	PERSON_ABSENT, /* could not be asked: TEXT says why */
	PERSON_SILENT, /* no answer: end of input, a signal, too long */
	PERSON_NO,
	PERSON_YES, /* GRANT is signed and kept */
};

struct person_result {
	enum person_answer answer;
	bool unseen; /* ABSENT for want of a terminal */
	int signal;  /* that interrupted the question */
	char *text;  /* ABSENT, SILENT: why; for a line on a terminal */
	char by[APPROVER_NAME_MAX + 1];
	struct grant grant;
	bool complete; /* a start would find enough approvals now */
};

int approval_person_ask(const struct approval_person *p, struct person_result *ret,
			struct fault *f) _must_check_;
void person_result_done(struct person_result *r);
#define _cleanup_person_ _cleanup_(person_result_done)

/* The card of a request, as it is drawn for `custody pending ID`: appended to OUT, nothing cut. */
int approval_person_card(const struct approval_store *d, const struct request *rq,
			 const struct grant_terms *terms, int fd, bool full, struct strbuf *out,
			 struct fault *f) _must_check_;
