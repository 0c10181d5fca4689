/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/digest.h"
#include "base/fault.h"

/*
 * Digest of the manifest of an upper that was mounted with `userxattr`: one line for each entry, in the order of the
 * bytes of the names, with everything that changes what a container sees above the same worktree: type, mode, path,
 * content, text of a link, whiteouts, opaque directories, user.* attributes.  Owners, times and inodes are not in it:
 * the same changes have the same digest in every session.
 */
int overlay_manifest_digest(int layer, struct digest *ret, struct fault *f) _must_check_;
