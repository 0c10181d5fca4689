/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json.h"
#include "subject/subject.h"

/*
 * The system call filter of a subject: one table, two forms.  Own runs hand libcrun a finished program, compiled
 * when custody was built (or now, when the profile changes the list); portable bundles name the calls.
 */

/* Base64 of the BPF program for placement.seccomp_bpf; heap.  NULL in *RET when the subject asks for no filter. */
int seccomp_encode(const struct subject *s, char **ret, struct fault *f) _must_check_;

/* The program of a subject that says nothing about it, for whoever else is to do no more than a payload; static. */
const char *seccomp_plain(void);

/* The value of linux.seccomp; NULL in *RET when the subject asks for no filter. */
int seccomp_describe(const struct subject *s, struct jdoc **ret, struct fault *f) _must_check_;

/* The same as it is written in config.json, made when custody was built; NULL when it has to be described. */
const char *seccomp_written(const struct subject *s);
