/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/bundle/bundle-subject.h"

/* Private to bundle-subject.c and bundle-verify.c. */
#define BUNDLE_AGAIN "write the bundle again: custody bundle --force"

/* The keys of subject.json other than `subject`. */
struct bundle_header {
	uint64_t version, time_s;
	char *digest;
	struct {
		bool rootless;
		unsigned int uid_base, gid_base, n_ids;
		char *init, *hook;
	} place;
};

/* -EPERM when the digest in the file is not the digest of the subject.  RET is filled also on failure. */
int bundle_header_read(const struct bundle_files *b, struct bundle_header *ret, struct fault *f) _must_check_;
void bundle_header_done(struct bundle_header *h);
