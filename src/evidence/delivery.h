/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "state/dirs.h"
#include "evidence/evidence-store.h"

/*
 * Delivery to a store that may be unreachable, full or hanging: a share.  Evidence is written to STATE/staging and copied to
 * the store by a background process.  A store on a local file system is written directly.
 *
 *	STATE/staging/SESSION		complete, as it will be in the store
 *	STATE/staging/.lock		held by the delivery, and by every process that touches the store for it
 *	STATE/staging/.note		result of the last try, and the type of the share
 *
 * Only the holders of the lock touch a store that is not local, so that no other process can hang.
 */
#define DELIVERY_DIR "staging"

struct delivery_place {
	char *store, *staging;
	bool direct; /* evidence is written to STORE directly */
	char *type;  /* not direct: type of the file system */
	bool away;   /* not direct: a share that is not mounted */
};

int delivery_place(const struct dirs *d, const struct config *c, struct delivery_place *ret,
		   struct fault *f) _must_check_;
void delivery_place_done(struct delivery_place *p);
#define _cleanup_delivery_place_ _cleanup_(delivery_place_done)

/* --- state of the last try --------------------------------------------------------------------------------------------- */

struct delivery_state {
	char *store; /* the store of the last try; NULL: unknown */
	char *share; /* file system type of the share; NULL: not a share */
	char *error; /* of the last try; NULL: success */
	uint64_t tries, failed_us;
};
void delivery_state_done(struct delivery_state *n);
#define _cleanup_delivery_state_ _cleanup_(delivery_state_done)

/* An unreadable state file counts as missing. */
void delivery_state_load(const char *staging, struct delivery_state *ret);
int delivery_state_save(int staging, const struct delivery_state *n, struct fault *f) _must_check_;

/* --- delivering --------------------------------------------------------------------------------------- */

struct delivery_job {
	const struct dirs *dirs;
	const struct config *config;
	unsigned int silence_ms; /* a try without progress for this long ends; 0: the default */
	unsigned int wait_ms;	 /* for the lock of another delivery; 0: do not wait */
	bool local;		 /* the store is a local directory from now on, even if it was a share */
};

struct delivery_report {
	uint64_t delivered, waiting;
	bool busy;   /* another delivery held the lock */
	char *error; /* the first error; NULL: none */
};
void delivery_report_done(struct delivery_report *r);
#define _cleanup_delivery_report_ _cleanup_(delivery_report_done)

/*
 * Tries once to deliver all staged evidence.  Evidence that could not be delivered is reported in RET; it is no
 * failure.
 */
int delivery_run(const struct delivery_job *j, struct delivery_report *ret, struct fault *f) _must_check_;

/*
 * The same with retries, in a background process.  One system call if nothing is staged; no try within the delay after
 * the last failure.
 */
void delivery_kick(const struct dirs *d, const struct config *c);

/* True: a remote store answers within MS.  Tested in a child process. */
bool delivery_answers(const char *store, unsigned int ms);
