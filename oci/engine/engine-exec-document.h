/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/digest.h"
#include "oci/engine/engine.h"

/*
 * The subject of a command that `exec` starts in a governed container: the document of the container with the command, its
 * variables and its process in place of the container's, and a member `exec`.  docs/design/engine.md.
 */
struct engine_exec_subject {
	const char *id, *bundle;      /* of the container */
	const struct jdoc *config;    /* merged, of the container */
	const struct jdoc *container; /* its document */
	const struct digest *digest;  /* of CONTAINER */
	const struct jdoc *process;   /* merged, of the command */
	char *const *argv;	      /* its words */
	const char *cgroup;	      /* below the container's; NULL: the container's */
	unsigned int preserved;	      /* descriptors of the caller that it gets */
	const struct redact *redact;
};

int engine_exec_document(const struct engine_exec_subject *s, const struct digest_key *key, struct jdoc **ret,
			 struct fault *f) _must_check_;
