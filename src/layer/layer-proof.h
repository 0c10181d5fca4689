/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "base/fault.h"
#include "layer/layer.h"
#include "layer/init-proto.h"

/*
 * What init saw against what the subject asked for: the decision to release a payload.  Pure but for
 * proof_host_namespaces.
 */

/* Inode numbers of the caller's own namespaces: none of them may be init's. */
int proof_host_namespaces(uint64_t ret[_INIT_NS_MAX], struct fault *f) _must_check_;

/*
 * STATES gets a value for every layer, also when the answer is no.  LIMITS are the LAYER_BIT()s of limits that the
 * supervisor has proven itself, by reading the kernel's files of init's pid.  Missing and not in OPTIONAL: -EPERM,
 * and F names each such layer, what was seen, what it needs and where doctor explains it.
 */
int proof_compare(const struct init_msg *report, uint32_t asked, uint32_t optional, uint32_t limits,
		  const uint64_t host_ns[_INIT_NS_MAX], enum layer_state states[_LAYER_MAX],
		  struct fault *f) _must_check_;

/* "LAYER-SECCOMP": the id under which `custody doctor --explain` knows a layer. */
#define PROOF_ID_SIZE 48
void proof_doctor_id(enum layer l, char id[PROOF_ID_SIZE]);
