/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/approver.h"

/*
 * The PIN of an approver, required for level C.  The PIN is never stored in any form: yescrypt derives the
 * key that unwraps the approver's second signing key, and with a wrong PIN the unwrapping fails.
 *
 * Needs libcrypt; custody-hook must not link this (grant.h does not need it).
 */
#define PIN_DIGITS_MIN 6
#define PIN_DIGITS_MAX 64
#define PIN_TRIES 3
#define PIN_LOCK_S ((uint64_t)15 * 60) /* doubles with each lock until `pin set` */
#define PIN_COST 7		       /* yescrypt: a quarter of a second and 64 MiB */

/* A PIN in memory.  pin_text_done erases it; locked into memory as far as the kernel allows. */
struct pin_text {
	char digits[PIN_DIGITS_MAX + 2];
	bool locked;
};
void pin_text_init(struct pin_text *p);
void pin_text_done(struct pin_text *p);
#define _cleanup_pin_ _cleanup_(pin_text_done)

/* 6 to 64 digits, not all the same, not counting up or down ("123456"). */
int pin_check(const char *pin, struct fault *f) _must_check_;

/*
 * From before a PIN is read until it was used: no core dump, no ptrace by other processes of this uid.  Ended
 * afterwards, because an unprivileged process that is not dumpable cannot create containers.
 */
struct pin_protect {
	bool raised;
	int dumpable;
	uint64_t core_max; /* soft limit */
};
void pin_protect_begin(struct pin_protect *s);
void pin_protect_end(struct pin_protect *s);
#define _cleanup_pin_protect_ _cleanup_(pin_protect_end)

enum pin_result {
	PIN_WRONG = 0,
	PIN_RIGHT,
	PIN_LOCKED,
	PIN_UNSET, /* needs `custody pin set` */
};

struct pin_answer {
	enum pin_result result;
	unsigned int tries_left; /* before the next lock */
	uint64_t wait_s;	 /* PIN_LOCKED, or a wrong one that locked: until the next try */
	uint64_t failed_before;	 /* PIN_RIGHT: wrong tries since the last right one, to be shown */
};

/*
 * One try.  Counted and on disk before anything is compared, recorded before (pin.try) and after
 * (pin.result).  One at a time per approver.  RET_KEY is written for PIN_RIGHT only.  A wrong PIN is a
 * result, not a failure; a try that cannot be counted or recorded is a failure, and nothing is compared then.
 */
int pin_try(const struct approval_store *d, const char *name, const char *pin, struct pin_answer *ret,
	    struct sign_secret *ret_key, struct fault *f) _must_check_;

/* Would a try be allowed now?  RESULT is PIN_RIGHT for yes. */
int pin_status(const struct approval_store *d, const char *name, struct pin_answer *ret,
	       struct fault *f) _must_check_;

/*
 * OLD given: it is tried first (RET_ANSWER has the result; 0 is returned also if it was wrong, and then
 * nothing changed) and the key behind the PIN stays.  OLD NULL: a new key behind a new PIN; grants of level C
 * that the old one signed no longer count, and the admin must change custody.json's `pin_key`, if configured.
 * Both end a lock.
 */
int pin_set(const struct approval_store *d, const char *name, const char *old, const char *pin,
	    struct pin_answer *ret_answer, struct approver *ret, struct fault *f) _must_check_;
