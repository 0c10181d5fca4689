/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/approver-impl.h"
#include "approval/pin.h"

/* Inside the files of the PIN only. */

/* STATE/keys/NAME.tries: number of wrong entries, and start of the lock. */
struct pin_tries {
	uint64_t failed;     /* since the last right one or the last lock */
	uint64_t failed_all; /* since the last right one */
	uint64_t locks;	     /* since the last `pin set`; each doubles the next */
	bool locked;	     /* the last failure locked */
	struct moment since; /* LOCKED */
};

int pin_tries_read(int keysfd, const char *name, struct pin_tries *ret, struct fault *f) _must_check_;
int pin_tries_write(int keysfd, const char *name, const struct pin_tries *t, struct fault *f) _must_check_;

/* Seconds until a try is allowed, 0: now.  Pure. */
uint64_t pin_tries_wait_s(const struct pin_tries *t, const struct moment *now);
uint64_t pin_tries_lock_s(const struct pin_tries *t); /* duration of the current lock */

/* PIN -> K->setting, nonce, box around SECRET, whose public half becomes K->public.pin_key. */
int pin_wrap(const char *pin, unsigned int cost, const struct sign_secret *secret, struct approver_file *k,
	     struct fault *f) _must_check_;
/* 1: RET_SECRET is the key; 0: wrong PIN. */
int pin_unwrap(const char *pin, const struct approver_file *k, struct sign_secret *ret_secret,
	       struct fault *f) _must_check_;
