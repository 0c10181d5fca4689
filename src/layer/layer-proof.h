/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "base/fault.h"
#include "layer/layer.h"
#include "layer/init-proto.h"

/*
 * Compares init's report with the subject: the decision to release a payload. Pure but for
 * proof_host_namespaces.
 */

/* Inode numbers of the caller's own namespaces: none of them may be init's. */
int proof_host_namespaces(uint64_t ret[_INIT_NS_MAX], struct fault *f) _must_check_;

/*
 * STATES gets a value for every layer, also on failure. LIMITS are the LAYER_BIT()s of limits that the
 * supervisor has proven itself, by reading the kernel's files of init's pid. Missing and not in OPTIONAL:
 * -EPERM, and F names each such layer, the observed state, its requirement and doctor's explanation.
 */
int proof_compare(const struct init_msg *report, uint32_t asked, uint32_t optional, uint32_t limits,
		  const uint64_t host_ns[_INIT_NS_MAX], enum layer_state states[_LAYER_MAX],
		  struct fault *f) _must_check_;

/* "LAYER-SECCOMP": the id of a layer for `custody doctor --explain`. */
#define PROOF_ID_SIZE 48
void proof_doctor_id(enum layer l, char id[PROOF_ID_SIZE]);
