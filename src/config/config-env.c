/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <strings.h>

#include "config/config-impl.h"

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcasecmp(text, *words) == 0)
			return true;
	return false;
}

static struct jdoc *to_bool(const char *text)
{
	static const char *const yes[] = { "1", "true", "yes", "y", "on", NULL };
	static const char *const no[] = { "0", "false", "no", "n", "off", NULL };

	if (!is_one_of(text, yes) && !is_one_of(text, no))
		return NULL;
	return jdoc_new_bool(is_one_of(text, yes));
}

static struct jdoc *to_path(const char *text)
{
	return *text == '/' && str_is_utf8(text, strlen(text)) ? jdoc_new_string(text) : NULL;
}

static struct jdoc *to_lane(const char *text)
{
	enum lane lane;

	return lane_parse(text, &lane, NULL) < 0 ? NULL : jdoc_new_string(lane_name(lane));
}

static struct jdoc *to_profile(const char *text)
{
	return config_is_profile(text) && str_is_utf8(text, strlen(text)) ? jdoc_new_string(text) : NULL;
}

/* clang-format off */
static const struct config_env envs[] = {
	{ "CUSTODY_SANDBOX_ENABLED", "sandbox.enabled", to_bool, "1, true, yes, y, on, 0, false, no, n, off" },
	{ "CUSTODY_SANDBOX_RETENTION_PATH", "sandbox.retention_path", to_path, "an absolute path" },
	{ CONFIG_PROFILE_ENV, "profile", to_profile, "a profile's name or an absolute path" },
	{ LANE_ENV, "lane", to_lane, "sandbox (also: test) or prod (also: production)" },
	{ 0 },
};
/* clang-format on */

const struct config_env *config_envs(void)
{
	return envs;
}
