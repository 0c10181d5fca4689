/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "oci/libcrun/runtime-call.h"
#include "oci/runtime/runtime-log.h"
#include "oci/runtime/runtime-options.h"

/* One call of the program: its options, its log, and the arguments for libcrun. */
struct runtime_job {
	const struct runtime_options *options;
	const struct runtime_log *log;
	char **argv;
	char *root, *pid_file;
	struct runtime_call call;
};

/* Checks the id (the first argument, if given), finds the state root, selects the cgroup manager. */
int runtime_job_init(struct runtime_job *job, const struct runtime_options *o, const struct runtime_log *log,
		     char **argv, struct fault *f) _must_check_;
void runtime_job_done(struct runtime_job *job);
#define _cleanup_job_ _cleanup_(runtime_job_done)

/* Each returns the exit status, or a negative errno with F filled. */
int runtime_verb_create(struct runtime_job *job, struct fault *f);
int runtime_verb_run(struct runtime_job *job, struct fault *f);
int runtime_verb_start(struct runtime_job *job, struct fault *f);
int runtime_verb_exec(struct runtime_job *job, struct fault *f);
int runtime_verb_kill(struct runtime_job *job, struct fault *f);
int runtime_verb_delete(struct runtime_job *job, struct fault *f);
int runtime_verb_pause(struct runtime_job *job, struct fault *f);
int runtime_verb_resume(struct runtime_job *job, struct fault *f);
int runtime_verb_update(struct runtime_job *job, struct fault *f);
int runtime_verb_state(struct runtime_job *job, struct fault *f);
int runtime_verb_list(struct runtime_job *job, struct fault *f);
int runtime_verb_ps(struct runtime_job *job, struct fault *f);
int runtime_verb_spec(struct runtime_job *job, struct fault *f);
int runtime_verb_features(struct runtime_job *job, struct fault *f);

void runtime_print_version(FILE *out);

/*
 * Executes custody-runtime-systemd when systemd manages the container's cgroups and this program lacks libsystemd; returns 0
 * when this program is sufficient.
 */
int runtime_need_systemd(struct runtime_job *job, struct fault *f) _must_check_;
extern const bool runtime_has_systemd; /* is this custody-runtime-systemd? */
bool runtime_systemd_available(void);  /* is it installed? */
