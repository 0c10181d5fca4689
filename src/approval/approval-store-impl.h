/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/json.h"
#include "approval/approval-store.h"

/*
 * Inside the approval room only.  Rules of everything that writes:
 *
 * 1. A directory's lock is held from the first read that a write depends on to the last write.
 *
 * 2. Locks are taken in the order keys, requests, grants; the ledger's own comes last and is never held
 * across.
 *
 * 3. A decision is in the ledger, synced, before the file that makes it effective exists.
 *
 * 4. Data that cannot be read, counted or recorded is refused: -errno, never treated as missing.
 */
#define APPROVAL_STORE_KEYS "keys"
#define APPROVAL_STORE_APPROVERS "approvers"
#define APPROVAL_STORE_REQUESTS "requests"
#define APPROVAL_STORE_APPROVED "approved"
#define APPROVAL_STORE_GRANTS "grants"
#define APPROVAL_STORE_FILE_MAX ((size_t)4 * 1024 * 1024)

/* STATE/NAME, 0700, created if CREATE; else -ENOENT with nothing in F. */
int approval_store_open_dir(const struct approval_store *d, const char *name, bool create,
			    struct fault *f) _must_check_;

/* Exclusive; close to unlock.  DIRFD/NAME is created if missing and never removed. */
int approval_store_lock(int dirfd, const char *name, struct fault *f) _must_check_;

/* The directory and its lock.  -ENOENT with nothing in F, only without CREATE. */
#define APPROVAL_STORE_LOCK "lock"
int approval_store_open_locked(const struct approval_store *d, const char *name, bool create, int *ret_dirfd,
			       int *ret_lock, struct fault *f) _must_check_;

/* Expands BEGINNING to the id of 16 digits of a file in DIRFD. */
#define APPROVAL_STORE_ID_SIZE 17
struct approval_store_names_of {
	const char *what, *lister, *suffix;
};
int approval_store_resolve(const struct approval_store *d, int dirfd,
			   const struct approval_store_names_of *of, const char *beginning,
			   char id[APPROVAL_STORE_ID_SIZE], struct fault *f) _must_check_;

/* Reads a file of the store; -ENOENT with nothing in F.  LABEL starts messages. */
int approval_store_read(int dirfd, const char *name, const char *label, char **ret, size_t *ret_len,
			struct fault *f) _must_check_;
/* Reads the file of another host at PATH, of at most LEN_MAX bytes. */
int approval_store_read_path(const char *path, const char *label, size_t len_max, char **ret, size_t *ret_len,
			     struct fault *f) _must_check_;
int approval_store_read_json(int dirfd, const char *name, const char *label, struct jdoc **ret,
			     struct fault *f) _must_check_;
int approval_store_write_json(int dirfd, const char *name, const struct jdoc *doc,
			      struct fault *f) _must_check_;
int approval_store_unlink(int dirfd, const char *name,
			  struct fault *f) _must_check_; /* durable; ENOENT is success */

/* Names in DIRFD that end in SUFFIX, without those that begin with a dot, sorted.  No directory (negative): none. */
int approval_store_names(int dirfd, const char *suffix, char ***ret, struct fault *f) _must_check_;
/* Names that end in ".json", and as many zeroed items of ITEM_SIZE plus one; LABEL names them in messages.  The caller frees both. */
int approval_store_list(int dirfd, const char *label, size_t item_size, char ***ret_names, void **ret_items,
			struct fault *f) _must_check_;
/* Removes temporary files of killed writers.  Under the lock. */
void approval_store_remove_temps(int dirfd);

/* An object with exactly these keys, of these types. */
struct approval_store_shape {
	const char *key;
	enum jdoc_type type;
	bool optional;
};
int approval_store_require_shape(const struct jdoc *doc, const struct approval_store_shape *shape,
				 const char *label, struct fault *f) _must_check_;

int64_t approval_store_get_int(const struct jdoc *object, const char *key);   /* -1 unless an integer */
void approval_store_put_moment(const struct moment *m, struct jdoc *object);  /* keys at_us, boot, boot_ns */
int approval_store_get_moment(const struct jdoc *object, struct moment *ret); /* -EINVAL */
bool approval_store_is_boot_id(const char *text);			      /* 8 lower-case hex digits */

/* Takes ownership of D.  Its texts must be ours or redacted.  MARK may be NULL. */
int approval_store_record(const struct approval_store *d, const char *kind, const char *status,
			  const char *agent, const char *session, struct jdoc *details,
			  enum ledger_class class, struct ledger_mark *mark, struct fault *f) _must_check_;
void approval_store_put_text(struct jdoc *object, const char *key,
			     const char *text); /* redacted; NULL: not set */

/* Is there a record of KIND whose line contains both texts, at or after record SEQ?  1, 0 or negative. */
int approval_store_recorded(const struct approval_store *d, uint64_t seq, const char *kind, const char *one,
			    const char *other, struct fault *f) _must_check_;

/*
 * Public key of the lane's ledger, heap: requests and grants name it.  "" if the lane has no ledger yet: then no grant
 * counts.  A ledger whose keys do not belong together is an error.
 */
int approval_store_ledger_key(const struct approval_store *d, char **ret, struct fault *f) _must_check_;
bool approval_store_is_ledger_key(const char *text); /* in its one spelling */

uint64_t approval_store_min_approvals(const struct approval_store *d);
