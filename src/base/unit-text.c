/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/unit-text.h"

#include <stddef.h>
#include <stdio.h>

#include "base/array.h"

const char *unit_text_bytes(uint64_t bytes, char text[UNIT_TEXT_SIZE])
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB", "EB" };
	uint64_t rest = 0;
	size_t i = 0;

	while (bytes >= 1024 && i + 1 < ARRAY_SIZE(units)) {
		rest = bytes % 1024;
		bytes /= 1024;
		i++;
	}
	if (bytes < 10 && i > 0)
		(void)snprintf(text, UNIT_TEXT_SIZE, "%llu.%llu %s", (unsigned long long)bytes,
			       (unsigned long long)(rest * 10 / 1024), units[i]);
	else
		(void)snprintf(text, UNIT_TEXT_SIZE, "%llu %s", (unsigned long long)bytes, units[i]);
	return text;
}

const char *unit_text_seconds(uint64_t seconds, char text[UNIT_TEXT_SIZE])
{
	static const struct {
		uint64_t from, unit;
		char letter;
	} rows[] = { { 2 * 86400, 86400, 'd' }, { 2 * 3600, 3600, 'h' }, { 2 * 60, 60, 'm' }, { 0, 1, 's' } };
	size_t i = 0;

	while (seconds < rows[i].from)
		i++;
	(void)snprintf(text, UNIT_TEXT_SIZE, "%llu%c", (unsigned long long)(seconds / rows[i].unit),
		       rows[i].letter);
	return text;
}
