/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/approval-store-impl.h"
#include "approval/request.h"

/* Inside the files of requests and grants only. */
#define REQUEST_FILE_SIZE (REQUEST_ID_SIZE + sizeof(".json"))

void request_id(const struct digest *digest, char id[REQUEST_ID_SIZE]);
void request_file_name(const char *id, char name[REQUEST_FILE_SIZE]);
int request_parse(const char *text, size_t len, const char *label, struct request *ret,
		  struct fault *f) _must_check_;
int request_load(int dirfd, const char *id, struct request *ret,
		 struct fault *f) _must_check_; /* -ENOENT: F empty */
int request_store(int dirfd, const struct request *r, struct fault *f) _must_check_;

/* Is it expired, by either clock?  Pure. */
bool request_is_over(const struct request *r, const struct moment *now);

int request_record(const struct approval_store *d, const char *kind, const char *status,
		   const struct request *r, const char *why, const char *by, struct fault *f) _must_check_;

/* All of these under the lock of the requests. */
int request_remove(const struct approval_store *d, int dirfd, const struct request *rq, const char *why,
		   struct fault *f) _must_check_; /* recorded first */
int request_sweep_locked(const struct approval_store *d, int dirfd, const struct moment *now,
			 size_t *ret_left, struct fault *f) _must_check_;
int request_require_room(const struct approval_store *d, int dirfd, const struct moment *now,
			 struct fault *f) _must_check_;
int request_load_current(const struct approval_store *d, int dirfd, const struct digest *digest,
			 const struct moment *now, struct request *ret, struct fault *f) _must_check_;

/* As JSON can hold it; NULL stays NULL.  False on ENOMEM. */
bool request_copy_text(const char *text, char **ret);
bool request_copy_command(const char *text, char **ret);

/*
 * RQ got its last approval: keep its subject, which later ones are compared with.  Under the lock of the
 * requests.
 */
int request_keep_approved(const struct approval_store *d, const struct request *rq,
			  struct fault *f) _must_check_;

/* "UID:NAME"; with this prefix the uid belongs to another machine and has no meaning here. */
#define REQUEST_ASKER_IMPORTED '@'
char *request_asker_text(uid_t uid, const char *user);
bool request_asker_is(const char *asker, uid_t uid, const char *name); /* matches either */
