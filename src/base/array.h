/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Elements of an array; A must not be a pointer. */
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
