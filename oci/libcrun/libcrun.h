/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "oci/libcrun/libcrun-types.h"

/*
 * The part of libcrun that custody calls: the same functions in every version, but for parameters in capitals.
 *
 * Failures are -status-1 or positive, never -errno, and may have no error object: test `!= 0`.
 */
struct libcrun_container_s *libcrun_container_load_from_memory(const char *json, libcrun_error_t *err);
void libcrun_container_free(struct libcrun_container_s *container);
int libcrun_container_create(struct libcrun_context_s *context, struct libcrun_container_s *container,
			     unsigned int options, libcrun_error_t *err);
/* The part of a start that remains without hooks: releases the first process. */
int libcrun_status_write_exec_fifo(const char *state_root, const char *id, libcrun_error_t *err);
int libcrun_container_start(struct libcrun_context_s *context, const char *id, libcrun_error_t *err);
/* DEF is an ocispec struct: always NULL here, libcrun then reads its own copy of the configuration. */
int libcrun_container_delete(struct libcrun_context_s *context, void *def, const char *id, bool force,
			     libcrun_error_t *err);
int libcrun_read_container_status(struct libcrun_container_status_s *status, const char *state_root,
				  const char *id, libcrun_error_t *err);
void libcrun_free_container_status(struct libcrun_container_status_s *status);
int libcrun_error_release(libcrun_error_t *err);
int libcrun_make_error(libcrun_error_t *err, int status, const char *msg, ...)
	__attribute__((format(printf, 3, 4))); /* returns the failure, negative */
void libcrun_error(int status, const char *msg, ...) __attribute__((format(printf, 2, 3)));
void crun_set_output_handler(OUTPUT_PARAMETERS);

static inline void container_freep(struct libcrun_container_s **c)
{
	if (*c)
		libcrun_container_free(*c);
}
#define _cleanup_container_ _cleanup_(container_freep)

static inline void error_release(libcrun_error_t *err)
{
	(void)libcrun_error_release(err);
}
#define _cleanup_error_ _cleanup_(error_release)

/* Called by custody-runtime only: runtime-call.c. */
int libcrun_container_run(struct libcrun_context_s *context, struct libcrun_container_s *container,
			  unsigned int options, libcrun_error_t *err);
int libcrun_container_kill(struct libcrun_context_s *context, const char *id, const char *signal,
			   libcrun_error_t *err);
int libcrun_container_killall(struct libcrun_context_s *context, const char *id, const char *signal,
			      libcrun_error_t *err);
int libcrun_container_state(struct libcrun_context_s *context, const char *id, FILE *out,
			    libcrun_error_t *err);
int libcrun_container_exec_with_options(struct libcrun_context_s *context, const char *id,
					struct libcrun_container_exec_options_s *options,
					libcrun_error_t *err);
int libcrun_container_update(struct libcrun_context_s *context, const char *id, const char *content,
			     size_t len, libcrun_error_t *err);
int libcrun_container_pause(struct libcrun_context_s *context, const char *id, libcrun_error_t *err);
int libcrun_container_unpause(struct libcrun_context_s *context, const char *id, libcrun_error_t *err);
int libcrun_container_spec(bool root, FILE *out, libcrun_error_t *err); /* negative, or bytes written */
int libcrun_container_read_pids(struct libcrun_context_s *context, const char *id, bool recurse, pid_t **pids,
				libcrun_error_t *err);
int libcrun_get_container_state_string(const char *id, struct libcrun_container_status_s *status,
				       const char *state_root, const char **container_status, int *running,
				       libcrun_error_t *err);
int libcrun_get_containers_list(struct libcrun_container_list_s **ret, const char *state_root,
				libcrun_error_t *err);
void libcrun_free_containers_list(struct libcrun_container_list_s *list);
void libcrun_set_verbosity(int verbosity); /* 0: errors, 1: warnings too */
void libcrun_ignore_paused(
	void); /* ours, in libcrun-wrap-runtime.c: the next exec joins a paused container */
