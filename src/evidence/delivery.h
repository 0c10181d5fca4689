/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "state/dirs.h"
#include "evidence/evidence-store.h"

/*
 * Evidence for a store that may be away, full or hanging: a share.  It is taken into STATE/staging and brought to the
 * store by a process that nobody waits for.  A store on a local file system is written directly.
 *
 *	STATE/staging/SESSION		whole, as it will be in the store
 *	STATE/staging/.lock		held by who delivers, and by every process that touches the store for it
 *	STATE/staging/.note		how the last try went, and that the store is a share
 *
 * Nobody but the holders of the lock touches a store that is not local, so nobody else can hang.
 */
#define DELIVERY_DIR "staging"

struct delivery_place {
	char *store, *staging;
	bool direct; /* written at once */
	char *type;  /* not direct: the kind of file system */
	bool away;   /* not direct: it is a share and is not mounted */
};

int delivery_place(const struct dirs *d, const struct config *c, struct delivery_place *ret,
		   struct fault *f) _must_check_;
void delivery_place_done(struct delivery_place *p);
#define _cleanup_delivery_place_ _cleanup_(delivery_place_done)

/* --- how it went --------------------------------------------------------------------------------------------- */

struct delivery_note {
	char *store; /* that all of this is about; NULL: nothing is known */
	char *share; /* what kind of share it was when it was last seen; NULL: none */
	char *error; /* of the last try; NULL: it went well */
	uint64_t tries, failed_us;
};
void delivery_note_done(struct delivery_note *n);
#define _cleanup_delivery_note_ _cleanup_(delivery_note_done)

/* A note that nobody can read is none. */
void delivery_note_load(const char *staging, struct delivery_note *ret);
int delivery_note_save(int staging, const struct delivery_note *n, struct fault *f) _must_check_;

/* --- bringing it there --------------------------------------------------------------------------------------- */

struct delivery_job {
	const struct dirs *dirs;
	const struct config *config;
	unsigned int silence_ms; /* without any progress for that long a try ends; 0: the default */
	unsigned int wait_ms;	 /* for somebody else who delivers; 0: not at all */
	bool local;		 /* the store is meant to be where it is now, also if it was a share */
};

struct delivery_report {
	uint64_t delivered, waiting;
	bool busy;   /* somebody else was at it all the time */
	char *error; /* the first; NULL: nothing failed */
};
void delivery_report_done(struct delivery_report *r);
#define _cleanup_delivery_report_ _cleanup_(delivery_report_done)

/* One try for all that waits.  What could not be delivered is in RET, not a failure. */
int delivery_run(const struct delivery_job *j, struct delivery_report *ret, struct fault *f) _must_check_;

/*
 * The same, and again a few times, in a process of its own.  Costs one call when nothing waits, and does nothing as long
 * as the last failure is too recent.
 */
void delivery_kick(const struct dirs *d, const struct config *c);

/* Does a store that is no local one answer within MS?  Asked in a process of its own. */
bool delivery_answers(const char *store, unsigned int ms);
