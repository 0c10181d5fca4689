/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Files of a ledger, each named after the seq of its first record. */
#define SEGMENT_NAME_SIZE sizeof("00000000000000000000.ndjson")

void segment_name(uint64_t first, char name[SEGMENT_NAME_SIZE]);
