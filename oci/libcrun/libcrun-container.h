/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

#include "oci/libcrun/libcrun.h"

/* The layout of 1.8.1, for the functions that the linker wraps: they get a container and need its text or its context. */
struct libcrun_container_s {
	void *container_def;
	uid_t host_uid;
	gid_t host_gid;
	uid_t container_uid;
	gid_t container_gid;
	char *config_file;
	char *config_file_content; /* the argument of libcrun_container_load_from_memory */
	void *private_data;
	void (*cleanup_private_data)(void *private_data);
	struct libcrun_context_s *context;
};

_Static_assert(sizeof(void *) != 8 || sizeof(struct libcrun_container_s) == 64, "libcrun 1.8.1 container");
