/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * A system call filter for the calling thread and what it executes: BASE64 is a BPF program, as a runtime gets it.  The
 * thread has no_new_privs, or CAP_SYS_ADMIN.
 */
int call_filter_install(const char *base64, struct fault *f) _must_check_;
