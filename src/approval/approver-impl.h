/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/approval-store-impl.h"
#include "approval/approver.h"

/* Inside the files of approvers and PINs only: the two files of a local approver. */

#define APPROVER_FILE_SIZE (APPROVER_NAME_MAX + sizeof(".tries.json"))

/* STATE/keys/NAME.json.  BOX is unwrapped with the PIN. */
struct approver_file {
	struct approver public; /* of both keys; counts, has_* are not set */
	struct sign_secret secret;
	bool has_box;
	char setting[128]; /* of yescrypt: cost and salt */
	uint8_t nonce[12], box[32 + 16];
};
void approver_file_done(struct approver_file *k);
#define _cleanup_approver_file_ _cleanup_(approver_file_done)

/* KEYSFD from approval_store_open_dir(APPROVAL_STORE_KEYS).  -ENOENT with nothing in F. */
int approver_file_read(int keysfd, const struct approval_store *d, const char *name,
		       struct approver_file *ret, struct fault *f) _must_check_;
int approver_file_write(int keysfd, const struct approval_store *d, const struct approver_file *k,
			struct fault *f) _must_check_;

/* STATE/approvers/NAME.json: from here on the keys count, unless the configuration has its own list. */
int approver_publish(const struct approval_store *d, const struct approver *a, struct fault *f) _must_check_;
int approver_read_public(int dirfd, const char *name, struct approver *ret, struct fault *f) _must_check_;

/* As approver_list, without reading private keys. */
int approver_list_public(const struct approval_store *d, struct approver_list *ret,
			 struct fault *f) _must_check_;

/* Exactly LEN bytes as lower-case hex: else false. */
bool approver_bytes_from_hex(const char *hex, uint8_t *bytes, size_t len);
