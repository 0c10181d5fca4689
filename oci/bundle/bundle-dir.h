/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "state/digest-key.h"
#include "subject/subject.h"

/*
 * A portable bundle on disk: DIR/config.json, DIR/subject.json (oci/bundle/bundle-subject.h) and DIR/rootfs, for any runtime
 * that runs OCI bundles.  As root the container's ids are a separate block, chosen by the directory's device and inode, so
 * that a bundle keeps its ids; a user's bundle has the one id of the user.
 */
struct bundle_request {
	const char *dir;
	const char *init, *hook;      /* host paths of the installed programs */
	const char *run;	      /* directory of its sessions: dirs.run.  Needed with APPROVE */
	const struct digest_key *key; /* of the subject's lane */
	char *const *approve;	      /* arguments of its hook, oci/bundle/hook-args.h; NULL: no such hook */
	bool force;		      /* replace an existing bundle of custody */
};

/* All or nothing: after a failure DIR is unchanged, or removed if it was created here. */
int bundle_write(const struct bundle_request *rq, const struct subject *s, struct fault *f) _must_check_;
