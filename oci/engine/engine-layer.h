/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "oci/engine/engine-image.h"

/* TEXT has LEN hexadecimal digits, as an id of an engine and a digest have them. */
bool engine_layer_is_hex(const char *text, size_t len);

/* The layers below OWN, the container's directory in containers/storage, by the file OWN/lower: "l/ABC:l/DEF".  None: empty. */
int engine_layer_list(const char *own, char ***ret, struct fault *f) _must_check_;

/*
 * Heap: number and digest of the layers of the overlay FOUND at ROOTFS, without the container's own.  NULL: one of them cannot be
 * looked at, so the image is not identified, which is not an error.
 */
int engine_layer_name(const char *rootfs, const struct engine_rootfs *found, char **ret,
		      struct fault *f) _must_check_;
