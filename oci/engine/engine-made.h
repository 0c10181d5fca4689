/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/engine/engine-impl.h"

/*
 * Binds of files that an engine makes for one container and removes with it: /etc/hosts and its like, and volumes without a name.
 * They have a random id in their path, and they are no files of the host.
 */

/* Fills NAMES->made: the time since which the directory of the container exists. */
void engine_made_since(const struct jdoc *config, struct engine_names *names);
bool engine_made_is(const struct jdoc *mount, const struct engine_names *names);
/* The directory on the host in which the engine keeps the container's own files; heap; NULL: not known. */
char *engine_made_dir(const struct jdoc *config, const struct engine_names *names);
