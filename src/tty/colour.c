/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tty/colour.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

bool colour_is_wanted(const char *when, bool terminal)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (when && strcmp(when, "auto") != 0)
		return strcmp(when, "always") == 0;
	/* no-color.org: an empty value does not count. */
	return terminal && !(no && *no) && term && *term && !str_eq(term, "dumb");
}

const char *colour_begin(bool on, enum colour colour)
{
	static const char *const texts[] = {
		[COLOUR_HEAD] = "\033[1m", [COLOUR_HUNK] = "\033[36m",	 [COLOUR_OLD] = "\033[31m",
		[COLOUR_NEW] = "\033[32m", [COLOUR_COMMIT] = "\033[33m",
	};

	return on ? texts[colour] : "";
}

const char *colour_end(bool on)
{
	return on ? "\033[m" : "";
}
