/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/local-time.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define US_PER_SECOND UINT64_C(1000000)

static struct tm to_local(uint64_t wall_us)
{
	time_t seconds = (time_t)(wall_us / US_PER_SECOND);
	struct tm tm = { 0 };

	tzset(); /* localtime_r need not */
	if (!localtime_r(&seconds, &tm))
		tm = (struct tm){ .tm_mday = 1, .tm_year = 70 };
	return tm;
}

/* The name of a zone comes from TZ or from a file: letters, digits and signs only, else the offset. */
static void put_zone(const struct tm *tm, char *text, size_t size)
{
	static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
	const char *zone = tm->tm_zone ? tm->tm_zone : "";
	long minutes = tm->tm_gmtoff / 60;

	if (*zone && strspn(zone, good) == strlen(zone) && strlen(zone) <= 6)
		(void)snprintf(text, size, "%s", zone);
	else
		(void)snprintf(text, size, "%c%02ld:%02ld", minutes < 0 ? '-' : '+',
			       (minutes < 0 ? -minutes : minutes) / 60,
			       (minutes < 0 ? -minutes : minutes) % 60);
}

void local_time_minute(uint64_t wall_us, char text[LOCAL_TIME_SIZE])
{
	struct tm tm = to_local(wall_us);

	if (strftime(text, LOCAL_TIME_SIZE, "%Y-%m-%d %H:%M", &tm) == 0)
		(void)snprintf(text, LOCAL_TIME_SIZE, "?");
}

void local_time_second(uint64_t wall_us, char text[LOCAL_TIME_SIZE])
{
	struct tm tm = to_local(wall_us);

	if (strftime(text, LOCAL_TIME_SIZE, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		(void)snprintf(text, LOCAL_TIME_SIZE, "?");
}

void local_time_zoned(uint64_t wall_us, char text[LOCAL_TIME_SIZE])
{
	struct tm tm = to_local(wall_us);
	size_t len;

	local_time_second(wall_us, text);
	len = strlen(text);
	text[len++] = ' ';
	put_zone(&tm, text + len, LOCAL_TIME_SIZE - len);
}

void local_time_title(const char *title, char text[LOCAL_TITLE_SIZE])
{
	struct tm tm = to_local(clock_wall_us());
	char zone[16];

	put_zone(&tm, zone, sizeof(zone));
	(void)snprintf(text, LOCAL_TITLE_SIZE, "%.24s (%s)", title, zone);
}

static int number(const char *digits, int n)
{
	int value = 0;

	for (int i = 0; i < n; i++)
		value = value * 10 + (digits[i] - '0');
	return value;
}

bool local_time_parse(const char *utc, uint64_t *ret_us)
{
	static const char shape[] = "0000-00-00T00:00:00.000000Z";
	struct tm tm;
	time_t seconds;

	for (size_t i = 0; i + 1 < sizeof(shape); i++)
		if (shape[i] == '0' ? utc[i] < '0' || utc[i] > '9' : utc[i] != shape[i])
			return false;
	tm = (struct tm){ .tm_year = number(utc, 4) - 1900,
			  .tm_mon = number(utc + 5, 2) - 1,
			  .tm_mday = number(utc + 8, 2),
			  .tm_hour = number(utc + 11, 2),
			  .tm_min = number(utc + 14, 2),
			  .tm_sec = number(utc + 17, 2) };
	seconds = timegm(&tm);
	if (seconds < 0)
		return false;
	*ret_us = (uint64_t)seconds * US_PER_SECOND + (uint64_t)number(utc + 20, 6);
	return true;
}
