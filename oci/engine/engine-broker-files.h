/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>

#include "base/digest.h"
#include "oci/engine/engine-broker.h"

/*
 * The tmpfs with socket, token, custody-call and custody-mcp of one container.  It is mounted nowhere: the process that calls libcrun
 * attaches it in a mount namespace of its own, so that the host never sees it, and it is gone with the container.
 */
struct engine_broker_files {
	int mount;
	int socket;	     /* bound, not listening */
	struct digest token; /* its SHA-256; the text is in the file only */
};
#define ENGINE_BROKER_FILES_NONE ((struct engine_broker_files){ .mount = -EBADF, .socket = -EBADF })

/* LIBEXEC: directory of the two programs, which are copied. */
int engine_broker_files_make(const struct engine_broker *b, const char *libexec,
			     struct engine_broker_files *ret, struct fault *f) _must_check_;
void engine_broker_files_done(struct engine_broker_files *x);

/* For a process that calls libcrun and exits: a mount namespace, with the tmpfs on the directory PATH.  Closes the mount. */
int engine_broker_files_attach(const struct engine_broker_files *x, const char *path,
			       struct fault *f) _must_check_;
