/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/approval-lane.h"
#include "config/config.h"
#include "state/digest-key.h"
#include "approval/grant.h"
#include "ledger/ledger-claim.h"
#include "ledger/ledger-redact.h"
#include "session/session.h"
#include "subject/subject-digest.h"
#include "oci/bundle/hook-args.h"
#include "oci/bundle/bundle-subject.h"
#include "oci/hook/hook-warden.h"
#include "oci/hook/hook.h"

/*
 * Between the files of `approve`; nobody else includes this.
 *
 * Whether a bundle may run under a runtime that knows nothing of custody.  In this order, each step a refusal:
 *
 * 1. the directory and its files are the caller's alone, and no links;
 * 2. config.json is what subject.json says, byte for byte, for this very hook with these very arguments;
 * 3. the sealed copies are what was hashed, writable sources are the files that were judged;
 * 4. policy, asked again with today's rules and today's caller;
 * 5. levels B and C: a grant for the digest, reserved;
 * 6. the intent is on the disk;
 * 7. custody-warden, which was started before all of this, is there and stands beside the container.
 *
 * crun runs no poststop hook after this: a refusal is recorded here.
 */
struct approve {
	const struct hook_state *state;
	char *const *args;
	struct hook_args terms;
	struct dirs dirs;
	struct config *config;
	struct digest_key key;
	struct bundle_files bundle;
	char digest[SUBJECT_DIGEST_SIZE];
	struct verdict *verdict;
	struct ledger *ledger;
	struct approval_lane approval;
	struct session session;
	struct claim claim;
	struct grant_set grants;
	struct ledger_run run;
	struct redact redact; /* flags are the terms' */
	struct jdoc *told;    /* the verdict */
	bool reserved;
	struct hook_warden warden;
	char id[SESSION_ID_SIZE];
	int pidfd;
	uint64_t began;	     /* the container's first process, as /proc says */
	const char *refusal; /* stable word for the record: the step that is being taken */
};

/* Everything that decides, and nothing that stays. */
int approve_decide(struct approve *a, struct fault *f) _must_check_;
/* What was decided, said by a person where that is needed. */
int approve_reserve(struct approve *a, struct fault *f) _must_check_;
/* What stays: from its session to its warden's order. */
int approve_admit(struct approve *a, struct fault *f) _must_check_;
