/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/engine/engine-impl.h"

/*
 * Binds from the directory that the kubelet keeps for one pod, /var/lib/kubelet/pods/UID.  Only root writes there, but for the
 * content of volumes.
 */

/* An emptyDir or a termination log: the kubelet makes it for the pod, and removes it with the pod. */
bool engine_pod_is_made(const char *source, const struct engine_names *names);

/* "(pod)/volumes/TYPE/NAME": SOURCE without what the kubelet draws; heap.  NULL: it is not in the directory of this pod. */
char *engine_pod_name(const char *source, const struct engine_names *names);
