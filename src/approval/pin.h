/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/approver.h"

/*
 * What stands between a person's yes and a level C.  The PIN is never stored, in no form: yescrypt turns it into the
 * key that unwraps the approver's second signing key, and a wrong PIN is one whose unwrapping fails.
 *
 * Needs libcrypt; custody-hook must not link this (grant.h does not need it).
 */
#define PIN_DIGITS_MIN 6
#define PIN_DIGITS_MAX 64
#define PIN_TRIES 3
#define PIN_LOCK_S ((uint64_t)15 * 60) /* doubles with each lock until `pin set` */
#define PIN_COST 7		       /* yescrypt: a quarter of a second and 64 MiB */

/* A PIN on its way.  pin_text_done forgets it; locked into memory as far as the kernel lets us. */
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
 * Raised before a PIN is read, lowered when it was used: no core dump, no ptrace by others of this uid.  Lowered again,
 * because an unprivileged process that is not dumpable cannot create containers.
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
	PIN_UNSET, /* `custody pin set` first */
};

struct pin_answer {
	enum pin_result result;
	unsigned int tries_left; /* before the next lock */
	uint64_t wait_s;	 /* PIN_LOCKED, or a wrong one that locked: until the next try */
	uint64_t failed_before;	 /* PIN_RIGHT: wrong tries since the last right one, worth showing */
};

/*
 * One try.  Counted and on the disk before anything is compared, recorded before (pin.try) and after (pin.result).
 * One at a time per approver.  RET_KEY is written for PIN_RIGHT only.  A wrong PIN is an answer, not a failure;
 * what cannot be counted or recorded is a failure, and nothing was compared then.
 */
int pin_try(const struct approval_store *d, const char *name, const char *pin, struct pin_answer *ret,
	    struct sign_secret *ret_key, struct fault *f) _must_check_;

/* Without trying: would one be possible now?  RESULT is PIN_RIGHT for yes. */
int pin_status(const struct approval_store *d, const char *name, struct pin_answer *ret,
	       struct fault *f) _must_check_;

/*
 * OLD given: it is tried first (RET_ANSWER says how that went; 0 is returned also when it was wrong, and then nothing
 * changed) and the key behind the PIN stays.  OLD NULL: a new key behind a new PIN; grants of level C that the old one
 * signed count no more, and custody.json's `pin_key`, where configured, must be changed by the admin.  Both end a lock.
 */
int pin_set(const struct approval_store *d, const char *name, const char *old, const char *pin,
	    struct pin_answer *ret_answer, struct approver *ret, struct fault *f) _must_check_;
