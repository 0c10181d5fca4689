/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"

/* One entry of /etc/passwd itself, never of NSS: static programs must not load NSS modules. */
struct passwd_entry {
	char *name, *home;
	uid_t uid;
	gid_t gid;
};

/* NAME NULL: the first entry with UID.  1 and RET; 0: no such entry; -ENOMEM. */
int passwd_find(const char *name, uid_t uid, struct passwd_entry *ret) _must_check_;
void passwd_entry_done(struct passwd_entry *e);
#define _cleanup_passwd_entry_ _cleanup_(passwd_entry_done)
