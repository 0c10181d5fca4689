/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * Landlock for custody-egress, which parses hostile bytes as the caller: it may read what the C library's resolver and its modules
 * need, and no other file; it writes, creates and executes nothing, and may not trace a process outside.  Needs no_new_privs, one thread.
 * 0 also where the kernel has no Landlock (before 5.13, or switched off).
 */
int egress_confine(struct fault *f) _must_check_;
