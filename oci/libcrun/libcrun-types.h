/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Structs of libcrun, declared here because Debian ships the archive without headers.  A version has a header with its layouts and
 * with the parameters that differ; configure includes the one of the archive that it found, and refuses a version without one.
 * contrib/libcrun-verify.sh compares all of this with libcrun's own headers; it includes those first and defines
 * LIBCRUN_THEIR_STRUCTS.
 *
 * Container definitions stay opaque on purpose: the archive was built from another runtime-spec than the one in its source
 * tarball, and a struct read through the wrong header gives wrong values without an error.  JSON in, JSON out.
 */
struct libcrun_context_s;
struct libcrun_container_s;
struct libcrun_container_status_s;
struct libcrun_cgroup_status;	 /* opaque */
struct custom_handler_manager_s; /* opaque */

#ifndef LIBCRUN_THEIR_STRUCTS
struct libcrun_error_s {
	int status; /* errno, or 0 */
	char *msg;
};

struct libcrun_container_list_s {
	struct libcrun_container_list_s *next;
	char *name;
};

struct libcrun_seccomp_gen_ctx_s {
	struct libcrun_container_s *container;
	char checksum[65];
	unsigned int options;
	bool create;
	bool from_cache;
	int fd; /* seccomp.bpf in the container's state directory */
};

_Static_assert(sizeof(void *) != 8 || offsetof(struct libcrun_seccomp_gen_ctx_s, fd) == 84,
	       "libcrun seccomp");
#endif

typedef struct libcrun_error_s *libcrun_error_t;

#include LIBCRUN_DECLARATIONS
