/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "state/digest-key.h"
#include "subject/subject.h"

/*
 * A portable bundle on disk: DIR/config.json, DIR/subject.json (oci/bundle/bundle-subject.h) and DIR/rootfs, for any runtime
 * that takes OCI bundles.  As root the container's ids are a block of their own, chosen by the directory's device and
 * inode, so that a bundle keeps its ids; a user's bundle has the one id that the user has.
 */
struct bundle_request {
	const char *dir;
	const char *init, *hook;      /* host paths of the installed programs */
	const char *run;	      /* where its sessions will be: dirs.run.  With APPROVE */
	const struct digest_key *key; /* of the subject's lane */
	char *const *approve;	      /* arguments of its hook, oci/bundle/hook-args.h; NULL: no such hook */
	bool force;		      /* replace a bundle of ours that is there */
};

/* All or nothing: after a failure DIR is as it was, or gone when it was made here. */
int bundle_write(const struct bundle_request *rq, const struct subject *s, struct fault *f) _must_check_;
