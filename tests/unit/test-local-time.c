/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/local-time.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define US UINT64_C(1000000)

static bool is(const char *zone, uint64_t us, const char *want)
{
	char text[LOCAL_TIME_SIZE];

	(void)setenv("TZ", zone, 1);
	local_time_zoned(us, text);
	return strcmp(text, want) == 0;
}

static void times_are_in_the_callers_zone(void)
{
	CHECK(is("UTC0", 0, "1970-01-01 00:00:00 UTC"));
	CHECK(is("CET-1CEST,M3.5.0,M10.5.0/3", 1794985358 * US, "2026-11-18 08:02:38 CET"));
	CHECK(is("CET-1CEST,M3.5.0,M10.5.0/3", 1783000000 * US, "2026-07-02 15:46:40 CEST"));
	CHECK(is("<+0545>-5:45", 0, "1970-01-01 05:45:00 +0545"));
}

static void a_zone_with_other_characters_is_its_offset(void)
{
	CHECK(is("<a\033[31m>-1", 0, "1970-01-01 00:00:00 +00:00")); /* not a zone for libc either */
	CHECK(is("ABCDEFGHIJ3:30", 0, "1969-12-31 20:30:00 -03:30"));
}

static void a_time_beyond_the_calendar_is_printed_all_the_same(void)
{
	char text[LOCAL_TIME_SIZE];

	local_time_second(UINT64_MAX, text);
	CHECK(*text && strlen(text) < sizeof(text));
	local_time_zoned(UINT64_MAX, text);
	CHECK(*text && strlen(text) < sizeof(text));
}

static void the_time_of_a_record_is_read(void)
{
	uint64_t us = 0;

	CHECK(local_time_parse("2026-11-18T07:02:38.123456Z", &us) && us == 1794985358 * US + 123456);
	CHECK(!local_time_parse("2026-11-18 07:02:38.123456Z", &us));
	CHECK(!local_time_parse("2026-11-18T07:02", &us));
	CHECK(!local_time_parse("", &us));
	CHECK(!local_time_parse("1969-11-18T07:02:38.123456Z", &us));
}

static void a_title_names_the_zone(void)
{
	char text[LOCAL_TITLE_SIZE];

	(void)setenv("TZ", "XYZ-3", 1);
	local_time_title("STARTED", text);
	CHECK(strcmp(text, "STARTED (XYZ)") == 0);
}

TAP_MAIN(T(times_are_in_the_callers_zone), T(a_zone_with_other_characters_is_its_offset),
	 T(a_time_beyond_the_calendar_is_printed_all_the_same), T(the_time_of_a_record_is_read),
	 T(a_title_names_the_zone))
