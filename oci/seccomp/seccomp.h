/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json.h"
#include "subject/subject.h"

/*
 * The system call filter of a subject: one table, two forms.  Own runs pass libcrun a compiled program, from the build of
 * custody (or compiled now, if the profile changes the list); portable bundles name the calls.
 */

/* Base64 of the BPF program for placement.seccomp_bpf; heap.  NULL in *RET when the subject has no filter. */
int seccomp_encode(const struct subject *s, char **ret, struct fault *f) _must_check_;

/* The program of a subject with default settings, for other processes that need a payload's filter; static. */
const char *seccomp_plain(void);

/* The value of linux.seccomp; NULL in *RET when the subject has no filter. */
int seccomp_describe(const struct subject *s, struct jdoc **ret, struct fault *f) _must_check_;

/* The same as text of config.json, generated when custody was built; NULL: use seccomp_describe. */
const char *seccomp_written(const struct subject *s);
