/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/seccomp/seccomp-filter.h"

/* Base64 of the programs without a profile's own words, by SECCOMP_VARIANT(); written by seccomp-gen. */
extern const char *const seccomp_programs[SECCOMP_VARIANTS];

/* The same variants as linux.seccomp, written as JDOC_PRETTY writes it there. */
extern const char *const seccomp_texts[SECCOMP_VARIANTS];
