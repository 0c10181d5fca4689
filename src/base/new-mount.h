/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <fcntl.h>
#include <sys/mount.h>

#include "base/fault.h"

/* A file system that is mounted nowhere yet: open, set each option, finish.  Descriptors are CLOEXEC. */

/* In glibc since 2.36. */
#ifndef FSOPEN_CLOEXEC
#define FSOPEN_CLOEXEC 0x00000001
#define FSMOUNT_CLOEXEC 0x00000001
#define FSCONFIG_SET_FLAG 0
#define FSCONFIG_SET_STRING 1
#define FSCONFIG_CMD_CREATE 6
#define MOUNT_ATTR_RDONLY 0x00000001
#define MOUNT_ATTR_NOSUID 0x00000002
#define MOUNT_ATTR_NODEV 0x00000004
#define OPEN_TREE_CLONE 1
#define OPEN_TREE_CLOEXEC O_CLOEXEC
#define MOVE_MOUNT_F_EMPTY_PATH 0x00000004
#define MOVE_MOUNT_T_EMPTY_PATH 0x00000040
#endif

int new_mount_open(const char *type, int *ret, struct fault *f) _must_check_;
int new_mount_set(int fs, const char *key, const char *value,
		  struct fault *f) _must_check_; /* NULL: a flag */
/* *RET is the mount, with nosuid, nodev and ATTR, a MOUNT_ATTR_... */
int new_mount_finish(int fs, unsigned int attr, int *ret, struct fault *f) _must_check_;
