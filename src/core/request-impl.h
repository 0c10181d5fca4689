/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/approver-desk-impl.h"
#include "core/request.h"

/* Inside the files of requests and grants only. */
#define REQUEST_LOCK "lock"
#define REQUEST_FILE_SIZE (REQUEST_ID_SIZE + sizeof(".json"))

void request_id(const struct digest *digest, char id[REQUEST_ID_SIZE]);
void request_file_name(const char *id, char name[REQUEST_FILE_SIZE]);
int request_parse(const char *text, size_t len, const char *label, struct request *ret,
		  struct fault *f) _must_check_;
int request_load(int dirfd, const char *id, struct request *ret,
		 struct fault *f) _must_check_; /* -ENOENT: F empty */
int request_store(int dirfd, const struct request *r, struct fault *f) _must_check_;

/* Is its time over, by either clock?  Pure. */
bool request_is_over(const struct request *r, const struct moment *now);

int request_record(const struct desk *d, const char *kind, const char *status, const struct request *r,
		   const char *why, const char *by, struct fault *f) _must_check_;

/* RQ got its last approval: its subject is what the next one is compared with.  Under the lock of the requests. */
int request_keep_approved(const struct desk *d, const struct request *rq, struct fault *f) _must_check_;

/* "UID:NAME"; with this in front the uid is another machine's and says nothing here. */
#define ASKER_CARRIED '@'
char *asker_text(uid_t uid, const char *user);
bool asker_is(const char *asker, uid_t uid, const char *name); /* either of both */
