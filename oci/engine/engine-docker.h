/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/engine/engine-impl.h"

/* The program of HOOK is dockerd, which only root may replace, as libnetwork-setkey. */
bool engine_docker_is_setkey(const struct jdoc *hook);

/*
 * docker calls the same hook for every network, also for `--network none`: what the hook will do is in a file that dockerd wrote
 * before.  True only if libnetwork-setkey of dockerd is the one hook, and the file says none.  dockerd refuses to connect a container
 * of that network later.
 */
bool engine_docker_has_no_network(const struct jdoc *config, const struct engine_names *names);

/* The command of the container's health check, which docker executes by `exec`; NULL: none, or not known. */
struct jdoc *engine_docker_healthcheck(const struct jdoc *config, const struct engine_names *names);
