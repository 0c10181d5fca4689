/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine.h"

#include <errno.h>

const char *engine_profile_base(const struct engine_profile_choice *c)
{
	if (c->option)
		return c->option;
	if (c->alias)
		return c->alias;
	return c->configured ? c->configured : ENGINE_PROFILE_DEFAULT;
}

const char *engine_profile_name(const struct engine_profile_choice *c)
{
	return c->annotation ? c->annotation : engine_profile_base(c);
}

int engine_profile_require(const struct profile *base, const struct profile *chosen, struct fault *f)
{
	const char *key;

	if (profile_is_tighter_for_containers(base, chosen, &key))
		return 0;
	return fault_set(f, EPERM,
			 "annotation 'custody.profile': '%s' in profile '%s' is looser than in '%s', which "
			 "applies without the "
			 "annotation; the administrator may choose it: custody-runtime --profile %s, or "
			 "sandbox.profile in custody.json",
			 key, chosen->name, base->name, chosen->name);
}
