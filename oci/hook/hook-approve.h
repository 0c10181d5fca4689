/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "container/warden-start.h"
#include "decision/decision.h"
#include "oci/bundle/bundle-subject.h"
#include "oci/bundle/hook-args.h"
#include "oci/hook/hook.h"
#include "session/session.h"
#include "state/digest-key.h"

/*
 * Private to the files of `custody-hook approve`.
 *
 * Whether a bundle may run under a runtime that does not know custody.  In this order, each step a refusal:
 *
 * 1. lane prod: both keys; without them nothing of prod is opened;
 * 2. the bundle's directory and files belong to the caller alone and are no symbolic links;
 * 3. config.json equals the one generated from subject.json, byte for byte, for this hook with these arguments;
 * 4. the sealed copies match their hashes, writable sources are the files that were judged;
 * 5. policy, with the current rules and the current caller;
 * 6. levels B and C: a grant for the digest, reserved;
 * 7. the intent is on the disk;
 * 8. custody-warden, which was executed after step 1, supervises the container.
 *
 * crun runs no poststop hook after a refusal: it is recorded here.
 */
struct hook_approve_job {
	const struct hook_state *state;
	char *const *args;
	struct hook_args terms;
	struct dirs dirs;
	struct config *config;
	struct digest_key key;
	struct bundle_files bundle;
	struct decision decision;
	struct session session;
	struct warden_start warden;
	bool handed_over; /* the warden has the request: session, claim and every further record are its */
	char id[SESSION_ID_SIZE];
	int pidfd;
	uint64_t began; /* start time of the container's first process, from /proc */
};

/* Steps 2-4: reads the bundle and verifies it; no side effects. */
int hook_approve_verify(struct hook_approve_job *a, struct fault *f) _must_check_;
/* Step 8: creates the session, leaves its container info and sends the warden its request. */
int hook_approve_supervise(struct hook_approve_job *a, struct fault *f) _must_check_;
