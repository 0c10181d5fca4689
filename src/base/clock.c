/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/fd.h"

#define US_PER_SECOND UINT64_C(1000000)
#define SECONDS_PER_DAY 86400
#define WALL_US_MAX \
	UINT64_C(253402300799999999) /* 9999-12-31T23:59:59.999999Z, the last that fits the text */

struct utc {
	unsigned int year, month, day, hour, minute, second, us;
};

static struct timespec now(clockid_t id)
{
	struct timespec ts = { 0 };

	/* Cannot fail: both clocks exist in every supported kernel, and the pointer is valid. */
	(void)clock_gettime(id, &ts);
	return ts;
}

uint64_t clock_boot_ns(void)
{
	struct timespec ts = now(CLOCK_BOOTTIME);

	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t clock_wall_us(void)
{
	struct timespec ts = now(CLOCK_REALTIME);

	return (uint64_t)ts.tv_sec * US_PER_SECOND + (uint64_t)ts.tv_nsec / 1000;
}

/*
 * Not gmtime_r: it reads the file that TZ names and applies that file's leap seconds, and the caller's
 * environment must not change the ledger's clock. Counts in years that begin in March, so that the leap day
 * is their last; 146097 days are 400 years, 719468 days lie between 0000-03-01 and 1970-01-01.
 */
static struct utc to_utc(uint64_t wall_us)
{
	uint64_t seconds = wall_us / US_PER_SECOND;
	unsigned int days = (unsigned int)(seconds / SECONDS_PER_DAY) + 719468;
	unsigned int rest = (unsigned int)(seconds % SECONDS_PER_DAY);
	unsigned int era = days / 146097, day = days % 146097;
	unsigned int year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	unsigned int of_year = day - (365 * year + year / 4 - year / 100);
	unsigned int month = (5 * of_year + 2) / 153; /* 0 is March */

	return (struct utc){
		.year = era * 400 + year + (month >= 10),
		.month = month < 10 ? month + 3 : month - 9,
		.day = of_year - (153 * month + 2) / 5 + 1,
		.hour = rest / 3600,
		.minute = rest / 60 % 60,
		.second = rest % 60,
		.us = (unsigned int)(wall_us % US_PER_SECOND),
	};
}

void clock_format(uint64_t wall_us, char text[CLOCK_TEXT_SIZE])
{
	struct utc u = to_utc(wall_us < WALL_US_MAX ? wall_us : WALL_US_MAX);

	/* The remainders only tell the compiler what to_utc guarantees. */
	(void)snprintf(text, CLOCK_TEXT_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%06uZ", u.year % 10000,
		       u.month % 100, u.day % 100, u.hour % 100, u.minute % 100, u.second % 100,
		       u.us % 1000000);
}

int clock_boot_id(char id[9], struct fault *f)
{
	static const char path[] = "/proc/sys/kernel/random/boot_id";
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	r = fd_read_all(fd, 64, &text, &len, f);
	if (r < 0)
		return fault_wrap(f, r, "'%s'", path);
	if (strspn(text, "0123456789abcdef") != 8)
		return fault_set(f, EBADMSG, "'%s' does not start with 8 hex digits", path);
	memcpy(id, text, 8);
	id[8] = '\0';
	return 0;
}

int clock_session_id(char id[SESSION_ID_SIZE], struct fault *f)
{
	struct utc u = to_utc(clock_wall_us());
	uint32_t random;
	ssize_t n;

	do
		n = getrandom(&random, sizeof(random), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fault_errno(f, errno, "getrandom");
	if (n != (ssize_t)sizeof(random))
		return fault_set(f, EIO, "getrandom gave %zd bytes of %zu", n, sizeof(random));
	(void)snprintf(id, SESSION_ID_SIZE, "%04u%02u%02uT%02u%02u%02uZ-%08x", u.year % 10000, u.month % 100,
		       u.day % 100, u.hour % 100, u.minute % 100, u.second % 100, (unsigned int)random);
	return 0;
}
