/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process-pages.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "tap.h"

#define BIG ((size_t)1 << 20)

static const char big[BIG] = { 1 };
static const char *volatile at_big = big;

/* In kB; 0: not known.  The sums in /proc/self/status are not exact. */
static unsigned long resident(void)
{
	_cleanup_close_ int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *at;

	text[n < 0 ? 0 : n] = '\0';
	at = strstr(text, "Rss:");
	return at ? strtoul(at + strlen("Rss:"), NULL, 10) : 0;
}

static int add_big(void)
{
	int sum = 0;

	for (size_t i = 0; i < BIG; i += 1024)
		sum += at_big[i];
	return sum;
}

/* Code, constants and relocated tables are what they were. */
static void a_process_goes_on_without_its_mapped_pages(void)
{
	static const char *const table[] = { "one", "two" };
	static volatile int writable = 5;
	unsigned long before, after;

	if (tap_has("CUSTODY_TEST_VALGRIND", "1"))
		return;
	writable = 7;
	CHECK(add_big() == 1);
	before = resident();
	process_release_pages();
	after = resident();
	CHECK(before > 0 && after + BIG / 1024 / 2 < before);
	CHECK(writable == 7 && strcmp(table[0], "one") == 0 && strcmp(table[1], "two") == 0);
	CHECK(add_big() == 1);
}

TAP_MAIN(T(a_process_goes_on_without_its_mapped_pages))
