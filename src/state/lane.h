/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

/*
 * A lane is `sandbox`, whose state is disposable, or `prod`. Each lane has its own state and network class;
 * an object stamped for one lane, or not stamped, is refused in the other. docs/design/lanes.md.
 */
enum lane {
	LANE_SANDBOX,
	LANE_PROD,
	_LANE_MAX,
};

/* Every refusal of a lane is this negative errno, which no system call used here returns: exit status 116. */
#define LANE_REFUSED EBADRQC

#define LANE_ENV "CUSTODY_LANE"
#define LANE_ALLOW_ENV "CUSTODY_ALLOW_PROD"

const char *lane_name(enum lane lane);

/* NULL and blanks: sandbox.  Aliases test, production; blanks around and case do not matter.  Else -EINVAL. */
int lane_parse(const char *text, enum lane *ret, struct fault *f) _must_check_;

/* What a network is for. ANY is declared by objects that reach no network, never implied. */
enum network_class {
	NETWORK_CLASS_UNKNOWN,
	NETWORK_CLASS_TEST = 1,
	NETWORK_CLASS_PROD = 2,
	NETWORK_CLASS_ANY = NETWORK_CLASS_TEST | NETWORK_CLASS_PROD,
};

enum network_class lane_class(enum lane lane);
const char *network_class_name(enum network_class class); /* "unknown" for UNKNOWN */

/* WHAT names the thing, such as "profile 'x'".  UNKNOWN is a mismatch in every lane.  -LANE_REFUSED. */
int lane_require_class(enum lane lane, enum network_class class, const char *what,
		       struct fault *f) _must_check_;
/* STAMP is the canonical name of the lane: no alias, no blank; NULL: no stamp. */
int lane_require_name(enum lane lane, const char *stamp, const char *what, struct fault *f) _must_check_;

/* A file `lane` in a directory, written once and never changed. */
#define LANE_STAMP "lane"
int lane_stamp(int dirfd, enum lane lane, struct fault *f) _must_check_;
int lane_require_stamp(int dirfd, enum lane lane, const char *what, struct fault *f) _must_check_;
/* 1: stamped, *RET filled; 0: no stamp; negative: one that cannot be read. */
int lane_read_stamp(int dirfd, const char *what, enum lane *ret, struct fault *f) _must_check_;

/*
 * Permission to open a session: only lane_gate creates one, and session_open requires it. For prod,
 * session_open also requires that lane_record has written the override to the ledger.
 */
struct lane_pass;

struct lane_ask {
	enum lane lane;
	bool allow_prod;       /* --allow-prod was given */
	const char *allow_env; /* value of CUSTODY_ALLOW_PROD, NULL if unset */
	const char *program;   /* for the message; NULL: "custody" */
	char *const *argv;     /* command and its arguments, as given, for the message. NULL: none */
	size_t n_verbs;	       /* words of ARGV before the first option: 2 for "key new"; 0 counts as 1 */
	bool changes_state;    /* no session: the message says "changed", not "started" */
	bool no_lane_option;   /* the command takes no --lane */
};

/*
 * -LANE_REFUSED: the message names the missing keys and ends in ": " and a working command line for sh. Pure.
 */
int lane_gate(const struct lane_ask *ask, struct lane_pass **ret, struct fault *f) _must_check_;
/* Bytes of the message TEXT of a refusal before that command line, whose options may have secrets: a record has no more. */
size_t lane_reason_len(const char *text);
void lane_pass_free(struct lane_pass *p);
DEFINE_CLEANUP(struct lane_pass, lane_pass_free)
#define _cleanup_lane_pass_ _cleanup_(lane_pass_freep)

/* For callers that start a session; a NULL P is refused. */
int lane_pass_require(const struct lane_pass *p, enum lane lane, struct fault *f) _must_check_;

struct ledger;
struct ledger_run;
/*
 * Records the override of lane prod; on the disk when it returns 0. A pass of the sandbox lane records
 * nothing.
 */
int lane_record(struct lane_pass *p, struct ledger *l, const struct ledger_run *run,
		struct fault *f) _must_check_;
