/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "setup/setup-change.h"

/*
 * BASE/setup/UID.json: the changes made for one user, written before the first of them, so that a removal finds also those of
 * an interrupted setup.
 */
struct setup_record {
	struct setup_user user; /* name NULL: no record */
	struct setup_list changes;
};

/* BASE/setup, created and locked against another setup. */
int setup_record_open(const char *base, struct fault *f) _must_check_;
/* The same without creating or locking it: -ENOENT without a fault if it is missing. */
int setup_record_look(const char *base, struct fault *f) _must_check_;
/* DIR may be -ENOENT: no record. */
int setup_record_load(int dir, uid_t uid, struct setup_record *ret, struct fault *f) _must_check_;
int setup_record_save(int dir, const struct setup_record *r, struct fault *f) _must_check_;
int setup_record_remove(int dir, uid_t uid, struct fault *f) _must_check_;
/* 1: the record of another user than UID has PATH. */
int setup_record_shares(int dir, uid_t uid, const char *path, struct fault *f) _must_check_;
/* The uid of the record of NAME, for a user that /etc/passwd does not have any more: 1 and RET, or 0. */
int setup_record_find(int dir, const char *name, uid_t *ret, struct fault *f) _must_check_;
void setup_record_done(struct setup_record *r);
#define _cleanup_setup_record_ _cleanup_(setup_record_done)
