/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/engine/engine-impl.h"

/*
 * Mounts that are no binds.  Those that a profile does not have to allow show the container's own namespaces, or memory that is
 * removed with it: another type, such as ext4 or overlay, is a way to devices and directories of the host.
 */

/* Mount I of the merged configuration, no bind: -EPERM, or 0 with `ro` added where it must be read-only. */
int engine_filesystem_require(struct engine_work *w, size_t i) _must_check_;
/* Can a container without privileges do nothing to others by such a mount, wherever it is?  TYPE may be NULL. */
bool engine_filesystem_is_listed(const char *type);
