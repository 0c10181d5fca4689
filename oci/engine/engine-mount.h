/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/json.h"
#include "oci/engine/engine-impl.h"

enum engine_mount_kind {
	ENGINE_MOUNT_OTHER, /* a file system of its own: proc, tmpfs, overlay */
	ENGINE_MOUNT_BIND,
	ENGINE_MOUNT_ENGINE, /* a file that the engine makes per container: /etc/hosts, /dev/shm */
};

bool engine_mount_is_bind(const struct jdoc *mount);
enum engine_mount_kind engine_mount_kind(const struct jdoc *mount, const struct engine_names *names);
bool engine_mount_is_readonly(const struct jdoc *mount);
/* Does something of the host change when the container writes there? */
bool engine_mount_is_writable_bind(const struct jdoc *mount, const struct engine_names *names);
/* Where it is inside, normalized; heap; NULL: not a plain path. */
char *engine_mount_target(const struct jdoc *mount);
/* The last mount at or above PATH inside, or NULL: the root file system. */
const struct jdoc *engine_mount_of(const struct jdoc *config, const char *path);

/* custody's own paths, for the merge and for tests; NULL-terminated. */
extern const char *const engine_masked_paths[], *const engine_readonly_paths[];
