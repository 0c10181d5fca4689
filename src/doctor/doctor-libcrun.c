/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "base/array.h"
#include "base/str.h"
#include "doctor/doctor-host.h"

/* Faults of the versions 1.SINCE to 1.BELOW, and whether custody's own calls take their place (docs/THREATS.md). */
/* clang-format off */
static const struct {
	unsigned int since, below;
	const char *name;
	bool stopped;
} faults[] = {
	{ 0,  24, "stdio of the host changes owner",                true  },
	{ 0,  26, "as CVE-2025-52881 (LSM label of exec)",          false }, /* 1.25.1 */
	{ 19, 27, "CVE-2026-30892 (user of exec)",                  true  },
	{ 0,  28, "CVE-2026-47766 (an image's /dev)",               true  },
	{ 0,  29, "exec --cgroup leaves the container's cgroup",    true  },
	{ 0,  30, "CVE-2026-88264 (an image's /dev/console)",       true  },
	{ 0,  30, "CVE-2026-88265 (an image's /dev/null)",          true  },
};
/* clang-format on */

static void list_faults(struct strbuf *out, unsigned int minor, bool stopped, const char *label)
{
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		if (minor < faults[i].since || minor >= faults[i].below || faults[i].stopped != stopped)
			continue;
		strbuf_printf(out, "%s%s", any ? ", " : label, faults[i].name);
		any = true;
	}
}

void doctor_describe_libcrun(struct doctor_report *r, const char *version)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	unsigned int major = 0, minor = 0;

	if (sscanf(version, "%u.%u", &major, &minor) != 2) {
		doctor_add(r, "HOST-LIBCRUN", DOCTOR_UNKNOWN, DOCTOR_WARN, NULL, "libcrun '%s'", version);
		return;
	}
	if (major == 1) {
		list_faults(&text, minor, false, "; remains: ");
		list_faults(&text, minor, true, "; stopped by custody: ");
	}
	if (text.len == 0)
		doctor_add(r, "HOST-LIBCRUN", DOCTOR_OK, DOCTOR_INFO, NULL, "libcrun %s", version);
	else
		doctor_add(
			r, "HOST-LIBCRUN", DOCTOR_LIMITED, DOCTOR_WARN,
			"no action needed for runs of custody itself: custody doctor --explain HOST-LIBCRUN",
			"libcrun %s%s", version, text.text);
}
