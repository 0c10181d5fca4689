/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "state/subid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* 0 inside is the caller, the rest are other ids, each once. */
static void require_map(const struct subid_ask *ask, const struct id_extents *e)
{
	if (e->n < 2 || e->n > ID_EXTENTS_MAX || id_extents_count(e) > 1 + SUBID_USED_MAX)
		abort();
	if (e->at[0].inside != 0 || e->at[0].outside != ask->self || e->at[0].count != 1)
		abort();
	for (unsigned int i = 1; i < e->n; i++) {
		const struct id_extent *x = &e->at[i];
		uint32_t last = x->outside + (x->count - 1);

		if (x->count == 0 || last < x->outside || last == UINT32_MAX || x->outside == 0 ||
		    x->inside != e->at[i - 1].inside + e->at[i - 1].count)
			abort();
		if ((x->outside <= ask->reserved_last && last >= ask->reserved_first) ||
		    (x->outside <= ask->self && last >= ask->self))
			abort();
		for (unsigned int k = 1; k < i; k++)
			if (x->outside <= e->at[k].outside + (e->at[k].count - 1) && e->at[k].outside <= last)
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct subid_ask ask = { .file = "subuid",
				       .name = "ada",
				       .uid = 1000,
				       .self = 1000,
				       .reserved_first = 1879048192,
				       .reserved_last = 2147483647 };
	char *text =
		malloc(size ? size : 1); /* exactly as long, so that a sanitizer finds a read behind it */
	struct id_extents e = { .at = { { 0, 1000, 1 }, { 1, 100000, 65535 } }, .n = 2 };
	struct id_map m;

	if (!text)
		return 0;
	memcpy(text, data, size);
	if (subid_choose(text, size, &ask, &e, NULL) == 0)
		require_map(&ask, &e);
	if (subid_require_free(text, size, "user", &e, NULL) < 0 || subid_require_files(text, size, NULL) < 0)
		e.n = 1;
	free(text);
	text = strndup((const char *)data, size);
	if (text && id_map_parse(text, &m, NULL) == 0 && (m.uid.n == 0 || m.gid.n == 0))
		abort();
	free(text);
	return 0;
}
