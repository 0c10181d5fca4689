/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "oci/runtime/runtime-config.h"

/* The newest OCI runtime specification whose members are all in runtime-schema.c. */
#define RUNTIME_SPEC_MAX "1.3"
#define RUNTIME_SPEC_MAX_MINOR 3

unsigned int runtime_libcrun(void); /* LIBCRUN_NUMBER of the linked libcrun; 0: unknown */
unsigned int runtime_version_parse(const char *libcrun);

/* ociVersion is 1.something; RET_LATER: newer than RUNTIME_SPEC_MAX. */
int runtime_version_require(struct jspan config, bool *ret_later, struct fault *f) _must_check_;

/* Overwrites ociVersion in the text for a libcrun that compares it; the file is not changed. */
void runtime_version_adapt(struct runtime_json *config, unsigned int libcrun);
