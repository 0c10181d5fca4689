/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/json.h"
#include "capture/capture.h"
#include "profile/profile.h"

/*
 * Data of a container of another runtime or of an engine, for its note, evidence and recovery: CONTAINER_INFO_NAME in
 * RUN/sessions/ID. custody-hook or custody-runtime writes it when it allows the container, because the bundle may be edited, moved or removed later. One
 * line of JSON, then the bytes of subject.json and config.json.
 */
#define CONTAINER_INFO_NAME "dossier"
#define CONTAINER_INFO_MAX ((size_t)16 * 1024 * 1024)

struct container_info {
	char *container, *bundle; /* the runtime's id, and the bundle directory */
	pid_t pid;		  /* first process, and its start time in /proc/PID/stat */
	uint64_t start;
	struct digest digest; /* of the subject */
	char *profile;
	struct digest profile_digest;
	char **argv;			  /* redacted as in the ledger */
	char **redact;			  /* flags whose values are secrets */
	struct jdoc *verdict, *forensics; /* of policy; of the profile, NULL: not set */
	enum profile_workspace workspace;
	bool engine; /* created by custody-runtime: WORK may be "/", and the upper is that of the root (container-tree.h) */
	char *image; /* of an engine's container; NULL: not identified */
	struct jdoc *
		exec; /* of an engine's container: by what a command in it is judged (engine-exec-basis.h); NULL: none */
	struct jdoc *
		broker; /* the same: what its broker needs (oci/engine/engine-gate-broker.c writes it); NULL: none */
	char *work;  /* path in the container */
	char **hide; /* paths below WORK whose content is not captured */
	struct capture_ids ids;
	/* The two files; on the heap if read, borrowed if written. */
	char *subject, *config;
	size_t subject_len, config_len;
};

/* SESSIONFD is the session's directory; an existing file is never replaced. */
int container_info_write(int sessionfd, const struct container_info *d, struct fault *f) _must_check_;
/* Strict. -ENOENT: the file is missing, so the session is a run of custody itself. */
int container_info_read(int sessionfd, struct container_info *ret, struct fault *f) _must_check_;
void container_info_done(struct container_info *d);
#define _cleanup_container_info_ _cleanup_(container_info_done)
