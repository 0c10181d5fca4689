/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/approval-store.h"

/*
 * Approvers.  An approver is a name with two Ed25519 keys: the plain one signs grants of level B, the one
 * that only the PIN unwraps signs level C.  So the signature proves the level: no edit turns B into C.
 * STATE/keys/NAME.json (0600) holds the private halves of local approvers, STATE/approvers/NAME.json the
 * public ones.  custody.json's `approvers`, if present, counts alone: then a local key counts iff it is
 * listed there.
 */
#define APPROVER_NAME_MAX 32
#define APPROVER_KEY_PREFIX "ed25519:"
#define APPROVER_KEY_SIZE (sizeof(APPROVER_KEY_PREFIX) + 64) /* with hex: the form in custody.json */
#define APPROVER_KEY_ID_SIZE 17 /* first 16 hex digits of SHA-256 of the public key */

struct approver {
	char name[APPROVER_NAME_MAX + 1];
	char lane[16]; /* "": every lane */
	bool has_key, has_pin_key;
	struct sign_public key, pin_key;
	char key_id[APPROVER_KEY_ID_SIZE], pin_key_id[APPROVER_KEY_ID_SIZE];
	uid_t uid;	     /* APPROVER_NO_UID: unknown */
	bool own_uid;	     /* set by the admin for this approver; else it was found with the key */
	bool has_secret;     /* STATE/keys has the private half of the plain key */
	bool has_pin_secret; /* ... and of the one behind the PIN */
	bool counts;	     /* grants signed with its keys are accepted in this lane */
	uint64_t created_us; /* 0: unknown */
};

struct approver_list {
	struct approver *items;
	size_t n;
};
void approver_list_done(struct approver_list *l);
#define _cleanup_approvers_ _cleanup_(approver_list_done)

/* All that count, and local ones that do not (counts = false), sorted by name. */
int approver_list(const struct approval_store *d, struct approver_list *ret, struct fault *f) _must_check_;
int approver_find(const struct approval_store *d, const char *name, struct approver *ret,
		  struct fault *f) _must_check_; /* -ENOENT; F lists the known ones */

/* lower case letters, digits, '.', '_', '-'; begins with a letter or digit */
int approver_require_name(const char *name, struct fault *f) _must_check_;

/* Creates a local key pair of level B under NAME; recorded (key.new) before it counts.  -EEXIST. */
int approver_new(const struct approval_store *d, const char *name, struct approver *ret,
		 struct fault *f) _must_check_;

/*
 * The caller's own approver: NAME if given, else the only local key, else the one called USER.  Creates the first
 * one, called USER, if no local key and no configured approver exists.  RET->counts: its signature counts.
 */
int approver_own(const struct approval_store *d, const char *name, const char *user, struct approver *ret,
		 struct fault *f) _must_check_;
/* The same for commands that only read: creates none.  -ENOENT. */
int approver_find_own(const struct approval_store *d, const char *name, const char *user,
		      struct approver *ret, struct fault *f) _must_check_;

/* The plain private key, for level B.  Call sign_done after use.  (Level C: pin_try.) */
int approver_unlock(const struct approval_store *d, const char *name, struct sign_secret *ret,
		    struct fault *f) _must_check_;

void approver_key_text(const struct sign_public *key, char text[APPROVER_KEY_SIZE]);
/* With or without its kind as prefix. */
int approver_key_parse(const char *text, struct sign_public *ret, struct fault *f) _must_check_;
void approver_key_id(const struct sign_public *key, char id[APPROVER_KEY_ID_SIZE]);
