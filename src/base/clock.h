/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

uint64_t clock_boot_ns(void); /* CLOCK_BOOTTIME */
uint64_t clock_wall_us(void); /* CLOCK_REALTIME, microseconds since 1970 */

#define CLOCK_TEXT_SIZE sizeof("2026-11-16T03:15:00.123456Z")
void clock_format(uint64_t wall_us, char text[CLOCK_TEXT_SIZE]); /* UTC, always 6 decimals */

/* First 8 hex digits of the kernel's boot id. */
int clock_boot_id(char id[9], struct fault *f) _must_check_;

/* "20261116T031500Z-1a2b3c4d": UTC and 8 random hex digits. */
#define SESSION_ID_SIZE sizeof("20261116T031500Z-1a2b3c4d")
int clock_session_id(char id[SESSION_ID_SIZE], struct fault *f) _must_check_;
