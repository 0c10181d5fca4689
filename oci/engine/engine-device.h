/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A character device that changes nothing and shows nothing of the host: null, zero, full, random, urandom, terminals. */
bool engine_device_is_harmless(int64_t major, int64_t minor);
