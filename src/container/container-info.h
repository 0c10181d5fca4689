/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/json.h"
#include "capture/capture.h"
#include "profile/profile.h"

/*
 * What is known of a container that another runtime runs, for whoever has to keep evidence of it: RUN/sessions/ID/info,
 * written by custody-hook when it let the container pass and read only after an abnormal end.  The bundle may be edited,
 * moved or gone by then.  One line of JSON, then the bytes of subject.json and config.json.
 */
#define CONTAINER_INFO_NAME "dossier"
#define CONTAINER_INFO_MAX ((size_t)16 * 1024 * 1024)

struct container_info {
	char *container, *bundle; /* the runtime's id, and where it came from */
	pid_t pid;		  /* first process, and when it began: what /proc/PID/stat says */
	uint64_t start;
	struct digest digest; /* of the subject */
	char *profile;
	struct digest profile_digest;
	char **argv;
	char **redact;			  /* flags whose values are secrets */
	struct jdoc *verdict, *forensics; /* of policy; of the profile: NULL when it says nothing */
	enum profile_workspace workspace;
	char *work;  /* inside */
	char **hide; /* paths below WORK whose inside is not looked at */
	struct capture_ids ids;
	/* The two files; heap when read, borrowed when written. */
	char *subject, *config;
	size_t subject_len, config_len;
};

/* In the session's directory; never onto a file that is there. */
int container_info_write(int sessionfd, const struct container_info *d, struct fault *f) _must_check_;
/* Strict.  -ENOENT: there is none, it is a run of custody's own. */
int container_info_read(int sessionfd, struct container_info *ret, struct fault *f) _must_check_;
void container_info_done(struct container_info *d);
#define _cleanup_container_info_ _cleanup_(container_info_done)
