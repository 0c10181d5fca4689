/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-hook.h"

#include "oci/engine/engine-docker.h"
#include "oci/engine/engine-impl.h"

size_t engine_hook_count(const struct jdoc *config)
{
	const struct jdoc *hooks = jdoc_get(config, "hooks");
	size_t n = 0;

	for (size_t i = 0; engine_is(hooks, JDOC_OBJECT) && i < hooks->n_members; i++) {
		const struct jdoc *list = hooks->members[i].value;

		n += engine_is(list, JDOC_ARRAY) ? list->n_items : 0;
	}
	return n;
}

bool engine_hook_has_foreign(const struct jdoc *config)
{
	size_t n = engine_hook_count(config);

	if (n == 1 && engine_count(config, "hooks.prestart") == 1)
		return !engine_docker_is_setkey(engine_item(config, "hooks.prestart", 0));
	return n > 0;
}
