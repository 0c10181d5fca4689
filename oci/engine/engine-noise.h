/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/engine/engine-impl.h"

/*
 * What differs between two identical calls of an engine, taken out of a copy of the configuration.  Never a part that chooses what
 * runs: an id is replaced only where an engine writes it itself.
 */

/* The words of the engine for this container, from the configuration. */
void engine_noise_names(struct engine_work *w);

/* HOOK->path /proc/PID/exe becomes the program; ids in its arguments become "(container)" and the like. */
int engine_noise_hook(struct engine_work *w, struct jdoc *hook) _must_check_;

/* Order: as they are mounted where one hides another, else by destination.  Sources that engines make become "(engine)". */
int engine_noise_mounts(struct engine_work *w, struct jdoc *mounts) _must_check_;

/* Path of a root file system that is not identified, without ids of layers and, in containerd's directories, of containers; heap. */
char *engine_noise_rootfs(const struct engine_input *in);

/* Objects by the text of KEY. */
void engine_noise_sort_by(struct jdoc *array, const char *key);

/* "system_u:system_r:container_t:s0:c1,c2" without the categories. */
void engine_noise_label(struct jdoc *object, const char *key);
