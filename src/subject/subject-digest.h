/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/digest.h"
#include "base/fault.h"
#include "base/json.h"

/*
 * Identifies a subject for people and grants: SHA-256 of its document in canonical form, as "sha256:" and
 * hex.
 */
#define SUBJECT_DIGEST_SIZE (sizeof("sha256:") - 1 + DIGEST_HEX_SIZE)

int subject_digest(const struct jdoc *subject, struct digest *ret, struct fault *f) _must_check_;
void subject_digest_to_text(const struct digest *d, char text[SUBJECT_DIGEST_SIZE]);
int subject_digest_from_text(const char *text, struct digest *ret); /* -EINVAL for any other form */
