/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * May another user than the owner and root write?  Debian 13 gives every login the umask 002, because each user has a group of
 * its own: write access of such a group is the owner's alone.  It counts as that for the caller's own files only, without an
 * ACL, and only if /etc/group and /etc/passwd show that no other account is in the group.
 */

/* FD (O_PATH suffices) and its fstat.  The sticky bit is not looked at. */
bool write_access_is_shared(int fd, const struct stat *st);

/*
 * Pure: GROUPS and PASSWD are the texts of /etc/group and /etc/passwd, NSSWITCH that of /etc/nsswitch.conf ("" if missing).  Is GID
 * the group of UID alone?  A source of groups or users other than these files is none: its members are not known.
 */
bool group_is_private(const char *groups, const char *passwd, const char *nsswitch, gid_t gid, uid_t uid);
