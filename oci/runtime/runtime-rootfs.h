/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json-span.h"

/*
 * Refuses a root file system ROOTFS in which a path that libcrun creates or mounts is or passes through a symbolic link:
 * /dev, /proc, /sys, every mount below them, every proc and sysfs, /dev/console and /dev/null where /dev is the
 * image's, and NOTIFY (NULL: none).  Refuses a /proc that is not the kernel's.  CONFIG is config.json; sources of its
 * mounts are relative to the working directory.
 *
 * This is the answer before anything was created.  oci/libcrun/libcrun-confine.c holds the same rule at the calls, where the
 * tree may have changed.
 */
int runtime_rootfs_require(struct jspan config, const char *rootfs, const char *notify,
			   struct fault *f) _must_check_;
