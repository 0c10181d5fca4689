/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/json.h"

/* The mounts that custody-hook makes: the argument that oci/bundle/bundle-hooks.c wrote. */
struct hook_plan_mount {
	const char *kind, *source, *target;
	bool rw, is_dir, idmap;
	bool sealed; /* the bundle's operands on top */
	uid_t uid;   /* owner of SOURCE on the host */
	gid_t gid;
	uint64_t size;
	mode_t mode;
	const char *file; /* "DEVICE:INODE" that SOURCE must be; NULL: any */
	int tree;	  /* clone of SOURCE, or -EBADF */
	int layer;	  /* clone of the bundle's operands, or -EBADF */
};

struct hook_plan {
	struct jdoc *doc; /* owns all texts */
	bool rootless, userns;
	uid_t uid_base, uid; /* of container root on the host; of the command, inside */
	gid_t gid_base, gid;
	/* Both or none: custody-warden gets descriptors of WORK, through a socket below RUN. */
	const char *run, *work;
	bool gate; /* with RUN: the socket at which init waits, layer/init-proto.h */
	struct hook_plan_mount *mounts;
	size_t n_mounts;
};

int hook_plan_parse(const char *text, struct hook_plan *ret, struct fault *f) _must_check_;
void hook_plan_done(struct hook_plan *p);
#define _cleanup_hook_plan_ _cleanup_(hook_plan_done)
