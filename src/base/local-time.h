/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Times for people, in the zone of TZ or of /etc/localtime.  Records, JSON and ids keep UTC (base/clock.h): the caller's
 * environment must not change them.
 */
#define LOCAL_TIME_SIZE sizeof("2026-11-16 03:15:00 +00:00:00")
void local_time_minute(uint64_t wall_us, char text[LOCAL_TIME_SIZE]); /* "2026-11-16 04:15" */
void local_time_second(uint64_t wall_us, char text[LOCAL_TIME_SIZE]); /* "2026-11-16 04:15:00" */
void local_time_zoned(uint64_t wall_us, char text[LOCAL_TIME_SIZE]);  /* "2026-11-16 04:15:00 CET" */

/* "STARTED (CET)": TITLE with the zone of now. */
#define LOCAL_TITLE_SIZE 48
void local_time_title(const char *title, char text[LOCAL_TITLE_SIZE]);

/* The time of a record, as clock_format writes it.  False: it is none. */
bool local_time_parse(const char *utc, uint64_t *ret_us);
