/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json.h"
#include "subject/placement.h"
#include "subject/subject.h"

/*
 * config.json as a pure function: it reads no file, no clock, no state of this process.  The same subject and placement give
 * the same bytes (jdoc_write in either style).
 */
int bundle_config(const struct subject *s, const struct placement *p, struct jdoc **ret,
		  struct fault *f) _must_check_;

/* Annotation of crun: the file for stderr of hooks.  The only annotation that may be added to a bundle. */
#define HOOK_STDERR "run.oci.hooks.stderr"

/* Annotation of every portable bundle: marks a directory that --force may replace. */
#define BUNDLE_MARK "custody.bundle"
