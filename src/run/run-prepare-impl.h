/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "layer/layer.h"
#include "run/run-prepare.h"

/* Private to run-prepare*.c. */

static inline bool run_prepare_is_mapped(const struct subject *s)
{
	return s->layers & LAYER_BIT(LAYER_USER_NS);
}

/* Upper and work directory of the overlay, which get the owner UID and GID. */
int run_prepare_upper(const struct run_prepare *p, uid_t uid, gid_t gid, struct fault *f) _must_check_;
/* The same for the repository beside the worktree. */
int run_prepare_repository(const struct run_prepare *p, uid_t uid, gid_t gid, struct fault *f) _must_check_;
/* The sealed copies, in PARENT, whose descriptor is DIRFD. */
int run_prepare_sealed(int dirfd, const char *parent, const struct subject *s, struct placement *pl,
		       struct fault *f) _must_check_;
/* The overlay that fuse-overlayfs serves, mounted in PARENT.  LAYERS: directory of its upper `u` and work `w`. */
int run_prepare_overlay(int dirfd, const char *parent, const char *layers, const struct subject *s,
			struct placement *pl, struct fault *f) _must_check_;
/* The root directory, in PARENT. */
int run_prepare_rootfs(int dirfd, const char *parent, const struct subject *s, struct placement *pl,
		       struct fault *f) _must_check_;

/* run-prepare-broker.c: socket and token, in the root directory ROOT of the container. */
int run_prepare_broker(const struct run_prepare *p, int root, const struct placement *pl,
		       struct fault *f) _must_check_;

/* run-prepare-root.c: as root everything is on a private tmpfs, mounted on the directory that this finds; heap. */
int run_prepare_find_point(const struct session *s, const struct subject *subject, char **ret,
			   struct fault *f) _must_check_;
int run_prepare_as_root(const struct run_prepare *p, struct placement *pl, struct fault *f) _must_check_;

/*
 * run-prepare-user.c: the same in a user namespace of the creator's own.  *RET is NULL where a tmpfs cannot be used: then
 * everything is in the session's own directory.
 */
int run_prepare_find_user_point(const struct run_prepare *p, char **ret, struct fault *f) _must_check_;
int run_prepare_as_user(const struct run_prepare *p, struct placement *pl, struct fault *f) _must_check_;
