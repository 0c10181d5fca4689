/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-size.h"

#include <errno.h>
#include <string.h>

static size_t max_of(const char *key)
{
	if (strcmp(key, "args") == 0)
		return ENGINE_ARGS_MAX;
	return strcmp(key, "env") == 0 ? ENGINE_ENV_MAX : ENGINE_ITEMS_MAX;
}

static int require(const struct jdoc *d, const char *key, struct fault *f)
{
	size_t n = d->type == JDOC_OBJECT ? d->n_members : d->type == JDOC_ARRAY ? d->n_items : 0;
	int r = 0;

	if (n > max_of(key))
		return fault_set(f, EPERM, "config.json: '%.64s' has %zu entries; at most %zu", key, n,
				 max_of(key));
	for (size_t i = 0; r == 0 && i < n; i++)
		r = d->type == JDOC_OBJECT ? require(d->members[i].value, d->members[i].key, f)
					   : require(d->items[i], key, f);
	return r;
}

int engine_size_require(const struct jdoc *config, struct fault *f)
{
	return require(config, "config.json", f);
}
