/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <string.h>
#include <time.h>

#include "tap.h"

#define US UINT64_C(1000000)

static bool formats(uint64_t us, const char *wanted)
{
	char text[CLOCK_TEXT_SIZE];

	clock_format(us, text);
	if (strcmp(text, wanted) == 0)
		return true;
	printf("# %s, wanted %s\n", text, wanted);
	return false;
}

static void known_moments_have_known_texts(void)
{
	CHECK(formats(0, "1970-01-01T00:00:00.000000Z"));
	CHECK(formats(951782400 * US, "2000-02-29T00:00:00.000000Z"));
	CHECK(formats(951868799 * US + 999999, "2000-02-29T23:59:59.999999Z"));
	CHECK(formats(1794798900 * US + 123456, "2026-11-16T03:15:00.123456Z"));
	CHECK(formats(4107542400 * US, "2100-03-01T00:00:00.000000Z"));
	CHECK(formats(4107542399 * US, "2100-02-28T23:59:59.000000Z"));
}

static void the_last_year_is_9999(void)
{
	CHECK(formats(UINT64_C(253402300799) * US, "9999-12-31T23:59:59.000000Z"));
	CHECK(formats(UINT64_MAX, "9999-12-31T23:59:59.999999Z"));
}

static void every_day_agrees_with_libc(void)
{
	for (time_t t = 43200; t < 253402300800; t += 86400) {
		char wanted[64], text[CLOCK_TEXT_SIZE];
		struct tm tm;

		CHECK(gmtime_r(&t, &tm));
		CHECK(strftime(wanted, sizeof(wanted), "%Y-%m-%dT%H:%M:%S.000000Z", &tm) > 0);
		clock_format((uint64_t)t * US, text);
		CHECK(strcmp(text, wanted) == 0);
	}
}

static void clocks_move_forward(void)
{
	uint64_t boot = clock_boot_ns(), wall = clock_wall_us();

	CHECK(boot > 0 && clock_boot_ns() >= boot);
	CHECK(wall > 1700000000 * US && wall < 4102444800 * US);
}

static void the_boot_id_does_not_change(void)
{
	char a[9], b[9];

	CHECK(clock_boot_id(a, NULL) == 0 && clock_boot_id(b, NULL) == 0);
	CHECK(strlen(a) == 8 && strspn(a, "0123456789abcdef") == 8 && strcmp(a, b) == 0);
}

static void session_ids_are_well_formed_and_differ(void)
{
	char a[SESSION_ID_SIZE], b[SESSION_ID_SIZE];

	CHECK(clock_session_id(a, NULL) == 0 && clock_session_id(b, NULL) == 0);
	CHECK(strlen(a) == SESSION_ID_SIZE - 1);
	CHECK(strspn(a, "0123456789") == 8 && a[8] == 'T' && strspn(a + 9, "0123456789") == 6);
	CHECK(a[15] == 'Z' && a[16] == '-' && strspn(a + 17, "0123456789abcdef") == 8);
	CHECK(strcmp(a, b) != 0);
}

TAP_MAIN(T(known_moments_have_known_texts), T(the_last_year_is_9999), T(every_day_agrees_with_libc),
	 T(clocks_move_forward), T(the_boot_id_does_not_change), T(session_ids_are_well_formed_and_differ))
